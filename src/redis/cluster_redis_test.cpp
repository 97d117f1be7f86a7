#include "redis/client.hpp"
#include "redis/hash_slot.hpp"
#include "redis_client/harness.hpp"
#include "servers/cluster.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using redis_client::Answer;
using redis_client::Harness;
using redis_client::text_of;
using servers::Cluster;
using servers::RedisServer;
using servers::SlotMigration;

// A master that does not own the slot.
RedisServer& master_other_than(Cluster& cluster, const RedisServer& owner) {
  return &owner == &cluster.node(0) ? cluster.node(1) : cluster.node(0);
}

TEST(ClusterRedis, FindsEveryKeyOnItsMaster) {
  Cluster cluster;
  Harness harness(cluster.url());
  std::vector<Answer> answers;
  for (int i = 0; i < 100; ++i) {
    answers.push_back(harness.send({"SET", "key" + std::to_string(i), "value"}));
  }
  for (const Answer& answer : answers) EXPECT_EQ(text_of(harness.wait(answer)), "OK");
  EXPECT_TRUE(harness.client->is_cluster());
  EXPECT_EQ(harness.client->masters().size(), 3U);
  EXPECT_EQ(harness.client->stats().retries, 0U);
  EXPECT_EQ(harness.client->stats().connects, 3U);
}

TEST(ClusterRedis, ACommandCanBeForOneNode) {
  Cluster cluster;
  Harness harness(cluster.url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  for (const NodeId node : harness.client->masters()) {
    const Answer info = harness.send({.bytes = resp::command({"INFO", "server"}), .node = node},
                                     Harness::kTestTimeout);
    const std::string port =
        harness.client->address_of(node).substr(std::string("127.0.0.1:").size());
    EXPECT_NE(text_of(harness.wait(info)).find("tcp_port:" + port), std::string::npos);
  }
}

TEST(ClusterRedis, FollowsASlotThatMigrates) {
  Cluster cluster;
  const std::uint16_t slot = hash_slot("key");
  Harness harness(cluster.url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  SlotMigration migration(cluster, slot, master_other_than(cluster, cluster.master_of_slot(slot)));

  // During a migration, existing keys are served by the old node, missing ones after ASK by the
  // new.
  migration.begin();
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "value");
  EXPECT_EQ(harness.client->stats().retries, 0U);
  EXPECT_EQ(text_of(harness.ask({"SET", "{key}new", "fresh"})), "OK");
  EXPECT_EQ(text_of(harness.ask({"GET", "{key}new"})), "fresh");
  EXPECT_EQ(harness.client->stats().retries, 2U);

  migration.move_all_keys();
  migration.finish();
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "value");
  EXPECT_EQ(harness.client->stats().retries, 3U);
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "value");
  EXPECT_EQ(harness.client->stats().retries, 3U);
}

TEST(ClusterRedis, SeveralKeysOfAMigratingSlotAreRetriedUntilTheDeadline) {
  using namespace std::chrono_literals;
  Cluster cluster;
  const std::uint16_t slot = hash_slot("key");
  Harness harness(cluster.url());
  ASSERT_TRUE(harness.ask_until_answered({"MSET", "{key}1", "a", "{key}2", "b"}));
  SlotMigration migration(cluster, slot, master_other_than(cluster, cluster.master_of_slot(slot)));
  migration.begin();
  ASSERT_EQ(migration.move_keys(1), 1U);
  for (const std::chrono::milliseconds deadline : {50ms, 120ms}) {
    const base::Deadline asked = base::monotonic_now();
    const Result<resp::Value> reply = harness.ask({"MGET", "{key}1", "{key}2"}, deadline);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Unavailable) << text_of(reply);
    EXPECT_GT(base::monotonic_now() - asked, deadline * 9 / 10) << "it gave up early";
  }
  const Answer waiting = harness.send({"MGET", "{key}1", "{key}2"});
  harness.run_until([] { return false; }, 20ms);
  migration.move_all_keys();
  migration.finish();
  EXPECT_TRUE(harness.wait(waiting)) << "it succeeds once the slot has migrated";
}

TEST(ClusterRedis, FollowsAFailover) {
  Cluster cluster;
  const std::uint16_t slot = hash_slot("key");
  const RedisServer& seed = master_other_than(cluster, cluster.master_of_slot(slot));
  Harness harness("redis-cluster://" + seed.address());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  const RedisServer& killed = cluster.kill_master_of_slot(slot);
  cluster.wait_for_other_master(slot, killed);
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "again"}));
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "again");
}

TEST(ClusterRedis, AFlushedScriptIsSentAgain) {
  Cluster cluster;
  const Script script = Script::from("return redis.call('INCRBY', KEYS[1], ARGV[1])");
  Harness harness(cluster.url(), {&script});
  for (std::size_t i = 0; i < Cluster::kMasters; ++i) cluster.node(i).must({"SCRIPT", "FLUSH"});
  const Answer answer =
      harness.send({.bytes = resp::command({"EVALSHA", script.sha1, "1", "counter", "5"}),
                    .script = &script,
                    .slot = hash_slot("counter")},
                   Harness::kTestTimeout);
  const Result<resp::Value> reply = harness.wait(answer);
  ASSERT_TRUE(reply) << text_of(reply);
  EXPECT_EQ(reply->integer, 5);
}

TEST(ClusterRedisSeeds, ReportsWhyNoneAnswers) {
  RedisServer dead;
  dead.kill();
  Harness harness("redis-cluster://" + dead.address());
  const Result<resp::Value> reply = harness.ask({"GET", "key"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(),
            (Error{ErrorCode::Unavailable, dead.address() + ": Connection refused"}));
}

TEST(ClusterRedisSeeds, AServerWithoutClusterModeIsMisconfigured) {
  const RedisServer server;
  Harness harness("redis-cluster://" + server.address());
  const Result<resp::Value> reply = harness.ask({"GET", "key"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured) << reply.error().detail;
}

}  // namespace
}  // namespace penstock::redis
