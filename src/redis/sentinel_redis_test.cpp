#include "redis/client.hpp"
#include "redis_client/harness.hpp"
#include "redis_client/test_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <optional>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;
using redis_client::free_port;
using redis_client::Harness;
using redis_client::TestDirectory;
using redis_client::TestServer;

std::string text_of(const Result<resp::Value>& reply) {
  if (!reply) return std::string(to_string(reply.error().code)) + ": " + reply.error().detail;
  return reply->text;
}

// A master, a replica and a sentinel that watches them.
class SentinelRedis : public testing::Test {
 protected:
  void SetUp() override {
    replica_.emplace(std::vector<std::string>{"--replicaof", "127.0.0.1",
                                              std::to_string(master_.port()),
                                              "--repl-diskless-sync-delay", "0"});
    Harness admin("redis://" + master_.address());
    // The sentinel asks only every ten seconds: what it shall know must be true before it starts.
    ASSERT_TRUE(admin.run_until([&] {
      return text_of(admin.ask({"INFO", "replication"})).find("state=online") != std::string::npos;
    }));
    const std::uint16_t port = free_port();
    const std::string file = directory_.file("sentinel.conf");
    std::ofstream(file) << "port " << port << "\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 "
                        << master_.port() << " 1\nsentinel down-after-milliseconds main 500\n"
                        << "sentinel failover-timeout main 2000\n";
    sentinel_.emplace(port, std::vector<std::string>{file, "--sentinel"});
    // The sentinel has heard of the replica, and the replica of its master.
    const base::Deadline end = base::deadline_after(30s);
    while (ask_sentinel("REPLICAS main").find("master-link-status\nok") == std::string::npos) {
      ASSERT_LT(base::monotonic_now(), end);
    }
  }
  // Not through the client, which does not take a sentinel for a master.
  [[nodiscard]] std::string ask_sentinel(const std::string& question) const {
    const std::string command =
        "redis-cli -p " + std::to_string(sentinel_->port()) + " SENTINEL " + question + " 2>&1";
    std::string answer;
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return answer;
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) answer += buffer.data();
    ::pclose(pipe);
    return answer;
  }
  [[nodiscard]] std::string url() const {
    return "redis-sentinel://" + sentinel_->address() + "/main";
  }

  TestDirectory directory_;
  TestServer master_{{"--repl-diskless-sync-delay", "0"}};
  std::optional<TestServer> replica_;
  std::optional<TestServer> sentinel_;
};

TEST_F(SentinelRedis, AsksForTheMaster) {
  Harness harness(url());
  EXPECT_EQ(text_of(harness.ask({"SET", "key", "value"})), "OK");
  EXPECT_EQ(harness.client->address_of(0), master_.address());
}

TEST_F(SentinelRedis, PassesOverASentinelThatIsDead) {
  TestServer dead;
  dead.kill();
  Harness harness("redis-sentinel://" + dead.address() + "," + sentinel_->address() + "/main");
  EXPECT_EQ(text_of(harness.ask({"SET", "key", "value"})), "OK");
}

TEST_F(SentinelRedis, AMasterThatNobodyKnowsIsForTheOperator) {
  Harness harness("redis-sentinel://" + sentinel_->address() + "/other");
  const Result<resp::Value> reply = harness.ask({"PING"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured);
  EXPECT_EQ(reply.error().detail,
            "sentinel " + sentinel_->address() + ": knows no master \"other\"");
}

TEST_F(SentinelRedis, FollowsAFailoverThatIsAnnounced) {
  Harness harness(url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  ASSERT_EQ(ask_sentinel("FAILOVER main"), "OK\n");
  EXPECT_TRUE(harness.run_until([&] { return harness.has_event("the master is now"); }));
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "again"}));
  EXPECT_EQ(harness.client->address_of(0), replica_->address());
}

TEST_F(SentinelRedis, FollowsAFailoverAfterTheMasterDied) {
  Harness harness(url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  master_.kill();
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "again"}));
  EXPECT_EQ(harness.client->address_of(0), replica_->address());
}

}  // namespace
}  // namespace penstock::redis
