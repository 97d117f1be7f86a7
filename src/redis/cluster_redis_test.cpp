#include "redis/client.hpp"
#include "redis/hash_slot.hpp"
#include "redis_client/harness.hpp"
#include "redis_client/test_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;
using redis_client::Answer;
using redis_client::free_port;
using redis_client::Harness;
using redis_client::TestServer;

std::string text_of(const Result<resp::Value>& reply) {
  if (!reply) return std::string(to_string(reply.error().code)) + ": " + reply.error().detail;
  return reply->text;
}

// A member of a cluster, with a connection of its own for the operator.
struct Member {
  Member()
      : server({"--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port()),
                "--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"}),
        admin("redis://" + server.address()) {
    EXPECT_TRUE(admin.ask_until_answered({"PING"}));
    id = text_of(admin.ask({"CLUSTER", "MYID"}));
  }
  [[nodiscard]] std::string bus_port() {
    const std::string text = text_of(admin.ask({"CLUSTER", "NODES"}));
    const std::size_t at = text.find('@') + 1;
    return text.substr(at, text.find_first_of(", ", at) - at);
  }

  TestServer server;
  Harness admin;
  std::string id;
};

// Three masters that share the slots.
class ClusterRedis : public testing::Test {
 protected:
  void SetUp() override {
    for (std::unique_ptr<Member>& member : masters_) member = std::make_unique<Member>();
    constexpr std::array<const char*, 4> kBounds{"0", "5461", "10923", "16384"};
    for (std::size_t i = 0; i < masters_.size(); ++i) {
      const std::string last = std::to_string(std::stoi(kBounds[i + 1]) - 1);
      ASSERT_TRUE(masters_[i]->admin.ask({"CLUSTER", "ADDSLOTSRANGE", kBounds[i], last}));
      // Or they would have to agree on epochs first.
      const std::string epoch = std::to_string(i + 1);
      ASSERT_TRUE(masters_[i]->admin.ask({"CLUSTER", "SET-CONFIG-EPOCH", epoch}));
      if (i > 0) meet(*masters_[i]);
    }
    for (const std::unique_ptr<Member>& member : masters_) {
      ASSERT_TRUE(member->admin.run_until([&] {
        const std::string info = text_of(member->admin.ask({"CLUSTER", "INFO"}));
        return info.find("cluster_state:ok") != std::string::npos &&
               info.find("cluster_known_nodes:3") != std::string::npos;
      }));
    }
  }
  void meet(Member& member) {
    const std::string port = std::to_string(member.server.port());
    ASSERT_TRUE(masters_[0]->admin.ask({"CLUSTER", "MEET", "127.0.0.1", port, member.bus_port()}));
  }
  [[nodiscard]] std::string url() const {
    return "redis-cluster://" + masters_[0]->server.address() + "," + masters_[1]->server.address();
  }

  std::array<std::unique_ptr<Member>, 3> masters_;
};

TEST_F(ClusterRedis, FindsEveryKeyOnItsMaster) {
  Harness harness(url());
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

TEST_F(ClusterRedis, ACommandCanBeForOneNode) {
  Harness harness(url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  for (const NodeId node : harness.client->masters()) {
    const Answer info = harness.send({.bytes = resp::command({"INFO", "server"}), .node = node},
                                     Harness::kPatience);
    const std::string port =
        harness.client->address_of(node).substr(std::string("127.0.0.1:").size());
    EXPECT_NE(text_of(harness.wait(info)).find("tcp_port:" + port), std::string::npos);
  }
}

TEST_F(ClusterRedis, FollowsASlotThatIsMovedAway) {
  Harness harness(url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  const std::string slot = std::to_string(hash_slot("key"));
  Member& from = *masters_[hash_slot("key") / 5462];
  Member& to = *masters_[(hash_slot("key") / 5462 + 1) % 3];

  // While it moves: what is still there is found there, what is not is ASKed for at the new place.
  ASSERT_TRUE(to.admin.ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", from.id}));
  ASSERT_TRUE(from.admin.ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", to.id}));
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "value");
  EXPECT_EQ(harness.client->stats().retries, 0U);
  EXPECT_EQ(text_of(harness.ask({"SET", "{key}new", "fresh"})), "OK");
  EXPECT_EQ(text_of(harness.ask({"GET", "{key}new"})), "fresh");
  EXPECT_EQ(harness.client->stats().retries, 2U);

  const std::string port = std::to_string(to.server.port());
  ASSERT_TRUE(from.admin.ask({"MIGRATE", "127.0.0.1", port, "key", "0", "1000"}));
  ASSERT_TRUE(to.admin.ask({"CLUSTER", "SETSLOT", slot, "NODE", to.id}));
  ASSERT_TRUE(from.admin.ask({"CLUSTER", "SETSLOT", slot, "NODE", to.id}));
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "value");
  EXPECT_EQ(harness.client->stats().retries, 3U);
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "value");
  EXPECT_EQ(harness.client->stats().retries, 3U);
}

TEST_F(ClusterRedis, FollowsAFailover) {
  Member replica;
  meet(replica);
  ASSERT_TRUE(replica.admin.run_until([&] {
    return text_of(replica.admin.ask({"CLUSTER", "INFO"})).find("cluster_known_nodes:4") !=
           std::string::npos;
  }));
  Member& master = *masters_[hash_slot("key") / 5462];
  ASSERT_TRUE(replica.admin.ask_until_answered({"CLUSTER", "REPLICATE", master.id}));
  ASSERT_TRUE(master.admin.run_until([&] {
    return text_of(master.admin.ask({"INFO", "replication"})).find("state=online") !=
           std::string::npos;
  }));
  // The others must have heard of the replica to vote for it.
  for (const std::unique_ptr<Member>& member : masters_) {
    ASSERT_TRUE(member->admin.run_until([&] {
      const Result<resp::Value> replicas = member->admin.ask({"CLUSTER", "REPLICAS", master.id});
      return replicas && replicas->elements.size() == 1;
    }));
  }
  Options options = Harness::options_for(
      "redis-cluster://" + masters_[(hash_slot("key") / 5462 + 1) % 3]->server.address());
  Harness harness(std::move(options));
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  master.server.kill();
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "again"}));
  EXPECT_EQ(text_of(harness.ask({"GET", "key"})), "again");
}

TEST_F(ClusterRedis, AFlushedScriptIsNotNoticed) {
  const Script script = Script::from("return redis.call('INCRBY', KEYS[1], ARGV[1])");
  Harness harness(url(), {&script});
  for (const std::unique_ptr<Member>& member : masters_) {
    ASSERT_TRUE(member->admin.ask({"SCRIPT", "FLUSH"}));
  }
  const Answer answer =
      harness.send({.bytes = resp::command({"EVALSHA", script.sha1, "1", "counter", "5"}),
                    .script = &script,
                    .slot = hash_slot("counter")},
                   Harness::kPatience);
  const Result<resp::Value> reply = harness.wait(answer);
  ASSERT_TRUE(reply) << text_of(reply);
  EXPECT_EQ(reply->integer, 5);
}

TEST(ClusterRedisSeeds, SaysWhyNoneAnswers) {
  TestServer dead;
  dead.kill();
  Harness harness("redis-cluster://" + dead.address());
  const Result<resp::Value> reply = harness.ask({"GET", "key"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(),
            (Error{ErrorCode::Unavailable, dead.address() + ": Connection refused"}));
}

TEST(ClusterRedisSeeds, AServerThatIsNoClusterIsForTheOperator) {
  const TestServer server;
  Harness operator_of("redis://" + server.address());
  ASSERT_TRUE(operator_of.ask_until_answered({"PING"}));
  Harness harness("redis-cluster://" + server.address());
  const Result<resp::Value> reply = harness.ask({"GET", "key"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured) << reply.error().detail;
}

}  // namespace
}  // namespace penstock::redis
