#include "redis/hash_slot.hpp"
#include "redis/url.hpp"
#include "servers/cluster.hpp"
#include "servers/sentinel_group.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace penstock::servers {
namespace {

redis::Url url_of(const std::string& url) { return redis::Url::parse(url).value(); }

TEST(SentinelGroup, FailsOverManuallyAndWhenTheMasterIsKilled) {
  SentinelGroup group({.replicas = 2, .password = "secret", .sentinel_password = "other"});
  const redis::Url url = url_of(group.url());
  EXPECT_EQ(url.topology, redis::Topology::Sentinel);
  EXPECT_EQ(url.hosts.size(), group.sentinels());
  EXPECT_EQ(url.master_name, "mymaster");
  EXPECT_EQ(url.password, "secret");

  RedisServer& first = group.master();
  EXPECT_EQ(&first, &group.server(0));
  EXPECT_EQ(group.replicas().size(), 2U);
  first.must({"SET", "a", "b"});
  EXPECT_EQ(first.must({"WAIT", "2", "10000"}).integer, 2);
  EXPECT_TRUE(group.server(1).command({"SET", "a", "c"}).text.starts_with("READONLY"));

  group.fail_over();
  RedisServer& second = group.master();
  EXPECT_NE(&second, &first);
  EXPECT_EQ(second.command({"GET", "a"}).text, "b");
  group.wait_until_healthy();

  RedisServer& killed = group.kill_master();
  EXPECT_EQ(&killed, &second);
  group.wait_for_master_other_than(killed.port());
  EXPECT_NE(group.current_master_port(), killed.port());
  EXPECT_EQ(group.master().command({"GET", "a"}).text, "b");

  killed.restart();
  group.wait_until_healthy();
}

TEST(Cluster, FailsOverManuallyAndWhenAMasterIsKilled) {
  Cluster cluster;
  const std::string key = "a";
  const std::uint16_t slot = redis::hash_slot(key);
  const redis::Url url = url_of(cluster.url());
  EXPECT_EQ(url.topology, redis::Topology::Cluster);
  EXPECT_EQ(url.hosts.size(), Cluster::kNodes);

  RedisServer& first = cluster.master_of_slot(slot);
  EXPECT_EQ(first.command({"SET", key, "b"}).text, "OK");
  EXPECT_EQ(first.must({"WAIT", "1", "10000"}).integer, 1);
  RedisServer& second = *cluster.replicas_of(first).at(0);
  EXPECT_TRUE(second.command({"GET", key}).text.starts_with("MOVED"));

  cluster.fail_over_to(second);
  EXPECT_EQ(&cluster.master_of_slot(slot), &second);
  EXPECT_EQ(second.command({"GET", key}).text, "b");

  EXPECT_EQ(&cluster.kill_master_of_slot(slot), &second);
  cluster.wait_for_other_master(slot, second);
  EXPECT_EQ(&cluster.master_of_slot(slot), &first);
  EXPECT_EQ(first.command({"GET", key}).text, "b");

  second.restart();
  wait_until("the killed one to follow", [&] { return cluster.replicas_of(first).size() == 1; });
  cluster.wait_until_ok();
}

TEST(Cluster, MigratesASlotStepByStep) {
  Cluster cluster({.password = "secret"});
  const std::uint16_t slot = redis::hash_slot("{a}1");
  RedisServer& from = cluster.master_of_slot(slot);
  RedisServer& to = &from == &cluster.node(0) ? cluster.node(1) : cluster.node(0);
  for (const std::string key : {"{a}1", "{a}2", "{a}3"}) {
    from.must({"SET", key, key});
  }

  SlotMigration migration(cluster, slot, to);
  EXPECT_EQ(&migration.source(), &from);
  EXPECT_EQ(&migration.target(), &to);
  migration.begin();
  EXPECT_EQ(from.command({"GET", "{a}1"}).text, "{a}1");
  EXPECT_TRUE(from.command({"GET", "{a}new"}).text.starts_with("ASK "));
  EXPECT_EQ(migration.move_keys(1), 1U);
  EXPECT_TRUE(from.command({"MGET", "{a}1", "{a}2", "{a}3"}).text.starts_with("TRYAGAIN"));
  migration.move_all_keys();
  EXPECT_TRUE(to.command({"GET", "{a}1"}).text.starts_with("MOVED"));
  Session asking = to.session();
  asking.must({"ASKING"});
  EXPECT_EQ(asking.command({"GET", "{a}1"}).text, "{a}1");
  migration.finish();

  EXPECT_EQ(&cluster.master_of_slot(slot), &to);
  EXPECT_EQ(to.command({"GET", "{a}3"}).text, "{a}3");
  EXPECT_TRUE(from.command({"GET", "{a}3"}).text.starts_with("MOVED"));

  cluster.migrate_slot(slot, from);
  EXPECT_EQ(from.command({"GET", "{a}2"}).text, "{a}2");
}

TEST(ServerGroups, LeaveNothingBehind) {
  std::vector<pid_t> pids;
  std::vector<std::filesystem::path> directories;
  const auto remember = [&](const RedisServer& server) {
    pids.push_back(server.pid());
    directories.push_back(server.directory());
  };
  {
    SentinelGroup group;
    for (std::size_t i = 0; i < group.size(); ++i) remember(group.server(i));
    for (std::size_t i = 0; i < group.sentinels(); ++i) remember(group.sentinel(i));
    Cluster cluster;
    for (std::size_t i = 0; i < Cluster::kNodes; ++i) remember(cluster.node(i));
  }
  for (const pid_t pid : pids) {
    EXPECT_NE(::kill(pid, 0), 0);
  }
  for (const std::filesystem::path& directory : directories) {
    EXPECT_FALSE(std::filesystem::exists(directory));
  }
}

}  // namespace
}  // namespace penstock::servers
