#include "redis/url.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

Url parsed(std::string_view text) {
  const Result<Url> url = Url::parse(text);
  EXPECT_TRUE(url.has_value()) << (url ? "" : url.error().detail);
  return url ? *url : Url{};
}

std::string error_of(std::string_view text) {
  const Result<Url> url = Url::parse(text);
  return url ? "accepted as " + to_string(*url) : url.error().detail;
}

TEST(RedisUrl, ReadsHostPortAndDatabase) {
  const Url url = parsed("redis://cache.internal:6380/3");
  EXPECT_EQ(url.topology, Topology::Standalone);
  EXPECT_EQ(url.transport, Transport::Plain);
  EXPECT_EQ(url.hosts, (std::vector<HostPort>{{"cache.internal", 6380}}));
  EXPECT_EQ(url.database, 3U);
  EXPECT_EQ(parsed("redis://localhost").hosts[0].port, 6379);
  EXPECT_EQ(parsed("redis://[::1]:7000").hosts[0].host, "::1");
}

TEST(RedisUrl, ReadsUserAndPasswordPercentEncoded) {
  const Url url = parsed("rediss://app:p%40ss%3Aword@host");
  EXPECT_EQ(url.transport, Transport::Tls);
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "p@ss:word");
  EXPECT_EQ(parsed("redis://:secret@host").password, "secret");
  EXPECT_EQ(parsed("redis://:a/b@c@host").password, "a/b@c");
}

TEST(RedisUrl, ReadsSocketSentinelAndCluster) {
  const Url socket = parsed("redis+unix:///run/redis.sock?db=2");
  EXPECT_EQ(socket.socket_path, "/run/redis.sock");
  EXPECT_EQ(socket.database, 2U);
  const Url sentinel = parsed("redis-sentinel://a,b:5000/primary/1");
  EXPECT_EQ(sentinel.hosts, (std::vector<HostPort>{{"a", 26'379}, {"b", 5000}}));
  EXPECT_EQ(sentinel.master_name, "primary");
  EXPECT_EQ(sentinel.database, 1U);
  const Url cluster = parsed("redis-cluster://a:7000,b:7001");
  EXPECT_EQ(cluster.topology, Topology::Cluster);
  EXPECT_EQ(cluster.hosts.size(), 2U);
}

TEST(RedisUrl, ErrorsNameTheValue) {
  EXPECT_NE(error_of("http://host").find("must begin with redis://"), std::string::npos);
  EXPECT_NE(error_of("redis://host:0").find("port \"0\" of \"host\""), std::string::npos);
  EXPECT_NE(error_of("redis://host:99999").find("99999"), std::string::npos);
  EXPECT_NE(error_of("redis://host/x").find("database \"x\""), std::string::npos);
  EXPECT_NE(error_of("redis://a,b").find("redis-sentinel://"), std::string::npos);
  EXPECT_NE(error_of("redis://").find("names no host"), std::string::npos);
  EXPECT_NE(error_of("redis://::1").find("brackets"), std::string::npos);
  EXPECT_NE(error_of("redis-sentinel://a").find("name of the master"), std::string::npos);
  EXPECT_NE(error_of("redis-cluster://a/1").find("only database 0"), std::string::npos);
  EXPECT_NE(error_of("redis+unix://relative").find("absolute path"), std::string::npos);
  EXPECT_NE(error_of("redis://user@host").find("user:password"), std::string::npos);
}

TEST(RedisUrl, PasswordsAppearNeitherInLogsNorInErrors) {
  EXPECT_EQ(to_string(parsed("redis://app:hunter2@host/1")), "redis://app:***@host:6379/1");
  for (const char* text :
       {"redis://app:hunter2@host:0", "redis://app:hunter2%@host", "redis://app:hunter2@",
        "redis://hunter2@host", "redis-cluster://app:hunter2@a/1"}) {
    EXPECT_EQ(error_of(text).find("hunter2"), std::string::npos) << error_of(text);
  }
}

}  // namespace
}  // namespace penstock::redis
