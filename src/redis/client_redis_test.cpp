#include "redis/client.hpp"
#include "redis_client/harness.hpp"
#include "servers/fault_proxy.hpp"
#include "servers/redis_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;
using redis_client::Answer;
using redis_client::Harness;
using redis_client::text_of;
using servers::RedisServer;

ErrorCode code_of(const Result<resp::Value>& reply) {
  EXPECT_FALSE(reply) << text_of(reply);
  return reply ? ErrorCode::InvalidInput : reply.error().code;
}

// A number of INFO stats.
std::uint64_t info(Harness& harness, std::string_view name) {
  const Result<resp::Value> reply = harness.ask({"INFO", "stats"});
  const std::string text = text_of(reply);
  const std::size_t at = text.find(std::string(name) + ":");
  std::uint64_t number = 0;
  if (at == std::string::npos) return number;
  std::from_chars(text.data() + at + name.size() + 1, text.data() + text.size(), number);
  return number;
}

TEST(ClientRedis, AnswersInOrder) {
  const RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  const Answer set = harness.send({"SET", "key", "value"});
  const Answer got = harness.send({"GET", "key"});
  EXPECT_EQ(text_of(harness.wait(set)), "OK");
  EXPECT_EQ(text_of(harness.wait(got)), "value");
}

TEST(ClientRedis, CommandsOfOneTickLeaveInOneWrite) {
  const RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  const std::uint64_t before = info(harness, "total_reads_processed");
  std::vector<Answer> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(harness.send({"INCR", "counter"}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(text_of(harness.wait(answers[static_cast<std::size_t>(i)])), std::to_string(i + 1));
  }
  // One read for all of them, and one for INFO.
  EXPECT_EQ(info(harness, "total_reads_processed"), before + 2);
}

TEST(ClientRedis, AFlushedScriptIsSentAgain) {
  const RedisServer server;
  const Script script = Script::from("return redis.call('INCRBY', KEYS[1], ARGV[1])");
  Harness harness(server.url(), {&script});
  const auto run = [&] {
    return harness.wait(harness.send(
        {.bytes = resp::command({"EVALSHA", script.sha1, "1", "key", "5"}), .script = &script},
        Harness::kTestTimeout));
  };
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  EXPECT_EQ(text_of(run()), "5");
  EXPECT_EQ(harness.client->stats().retries, 0U);
  ASSERT_TRUE(harness.ask({"SCRIPT", "FLUSH"}));
  EXPECT_EQ(text_of(run()), "10");
  EXPECT_EQ(harness.client->stats().retries, 1U);
  EXPECT_EQ(text_of(run()), "15");
  EXPECT_EQ(harness.client->stats().retries, 1U);
}

TEST(ClientRedis, AWrongPasswordIsMisconfiguredAndNotRepeated) {
  const RedisServer server({.password = "right"});
  Harness harness("redis://:wrong-one@" + server.address());
  ASSERT_TRUE(harness.run_until([&] { return harness.has_event("WRONGPASS"); }));
  const Result<resp::Value> reply = harness.ask({"PING"});
  EXPECT_EQ(code_of(reply), ErrorCode::Misconfigured);
  EXPECT_EQ(text_of(reply).find("wrong-one"), std::string::npos);
  EXPECT_FALSE(harness.has_event("wrong-one"));
}

TEST(ClientRedis, AMissingPasswordIsMisconfigured) {
  const RedisServer server({.password = "right"});
  Harness harness("redis://" + server.address());
  ASSERT_TRUE(harness.run_until([&] { return harness.has_event("connected"); }));
  EXPECT_EQ(code_of(harness.ask({"PING"})), ErrorCode::Misconfigured);
}

TEST(ClientRedis, UsesTheDatabaseOfTheUrl) {
  const RedisServer server({.password = "right"});
  Harness harness(server.url() + "/3");
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "in three"}));
  EXPECT_NE(text_of(harness.ask({"CLIENT", "INFO"})).find(" db=3 "), std::string::npos);
  EXPECT_NE(text_of(harness.ask({"CLIENT", "INFO"})).find(" name=penstock "), std::string::npos);
}

TEST(ClientRedis, ConnectsOverAUnixSocket) {
  const RedisServer server;
  Harness harness(server.unix_url() + "?db=2");
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  EXPECT_NE(text_of(harness.ask({"CLIENT", "INFO"})).find(" db=2 "), std::string::npos);
  EXPECT_EQ(harness.client->address_of(0), (server.directory() / "redis.sock").string());
}

TEST(ClientRedis, StartsBeforeTheServerDoes) {
  RedisServer server;
  server.kill();
  Harness harness(server.url());
  const Result<resp::Value> early = harness.ask({"PING"});
  EXPECT_EQ(code_of(early), ErrorCode::Unavailable);
  EXPECT_EQ(early.error().detail, server.address() + ": Connection refused");
  server.restart();
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST(ClientRedis, ACommandWaitsForTheFirstConnection) {
  const RedisServer server;
  Harness probe(server.url());
  ASSERT_TRUE(probe.ask_until_answered({"PING"}));
  Harness harness(server.url());
  EXPECT_EQ(text_of(harness.ask({"PING"})), "PONG");
}

TEST(ClientRedis, RecoversFromAServerThatIsKilled) {
  RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  const Answer blocked = harness.send({"BLPOP", "nothing", "0"});
  harness.run_until([&] { return blocked->has_value(); }, 20ms);
  server.kill();
  EXPECT_EQ(code_of(harness.wait(blocked)), ErrorCode::ConnectionLost);
  ASSERT_TRUE(harness.run_until([&] { return harness.has_event("refused"); }));
  EXPECT_EQ(code_of(harness.ask({"PING"})), ErrorCode::Unavailable);
  server.restart();
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
  EXPECT_EQ(harness.client->stats().connects, 2U);
}

TEST(ClientRedis, AFrozenServerCostsOneDeadlineAndThenNothing) {
  RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  server.pause();
  std::vector<Answer> answers;
  const base::Deadline start = base::monotonic_now();
  for (int i = 0; i < 5; ++i) answers.push_back(harness.send({"INCR", "counter"}, 20ms));
  for (const Answer& answer : answers) EXPECT_EQ(code_of(harness.wait(answer)), ErrorCode::Timeout);
  EXPECT_LT(base::monotonic_now() - start, 100ms);
  EXPECT_EQ(harness.client->stats().timeouts, 5U);

  const std::uint64_t fast_fails = harness.client->stats().fast_fails;
  std::vector<base::Deadline::duration> times;
  for (int i = 0; i < 21; ++i) {
    const base::Deadline asked = base::monotonic_now();
    EXPECT_EQ(code_of(harness.ask({"INCR", "counter"}, 20ms)), ErrorCode::Unavailable);
    times.push_back(base::monotonic_now() - asked);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[times.size() / 2], 100us);
  EXPECT_EQ(harness.client->stats().fast_fails, fast_fails + 21);

  server.resume();
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST(ClientRedis, ALateReplyIsNotMatchedToTheNextCall) {
  RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "mine"}));
  server.pause();
  EXPECT_EQ(code_of(harness.ask({"ECHO", "late"}, 20ms)), ErrorCode::Timeout);
  const Answer next = harness.send({"GET", "key"});
  server.resume();
  EXPECT_EQ(text_of(harness.wait(next)), "mine");
  EXPECT_EQ(harness.client->stats().connects, 1U);
}

TEST(ClientRedis, ASilentConnectionIsReopened) {
  RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  server.pause();
  EXPECT_EQ(code_of(harness.ask({"PING"}, 10ms)), ErrorCode::Timeout);
  EXPECT_TRUE(harness.run_until([&] { return harness.has_event("connection lost: nothing"); }));
  server.resume();
  EXPECT_TRUE(harness.ask_until_answered({"PING"}));
}

TEST(ClientRedis, AConnectionThatWorkedIsReopenedAtOnceHoweverOftenItDrops) {
  const RedisServer server;
  servers::FaultProxy proxy(server.port());
  Harness harness(proxy.url());
  for (unsigned drops = 0; drops < 12; ++drops) {
    const Result<resp::Value> reply = harness.ask({"PING"}, 500ms);
    ASSERT_TRUE(reply) << "after " << drops << " drops: " << text_of(reply);
    harness.events.clear();
    proxy.close();
    ASSERT_TRUE(harness.run_until([&] { return harness.has_event("connection lost"); }));
  }
  EXPECT_FALSE(harness.has_event("breaker open"));
}

TEST(ClientRedis, ACommandDoesNotWaitForTheBackoffOfAnIdleConnection) {
  const RedisServer server;
  servers::FaultProxy proxy(server.port());
  Harness harness(proxy.url());
  for (unsigned connects = 1; connects <= 7; ++connects) {  // pauses of 20, 40 … 1280 ms
    ASSERT_TRUE(harness.run_until([&] { return harness.client->stats().connects == connects; }));
    harness.events.clear();
    proxy.close();
    ASSERT_TRUE(harness.run_until([&] { return harness.has_event("connection lost"); }));
  }
  const Result<resp::Value> reply = harness.ask({"PING"}, 500ms);
  EXPECT_TRUE(reply) << text_of(reply);
}

TEST(ClientRedis, TheBreakerOpensWhenEveryConnectionDropsWithoutAnAnswer) {
  const RedisServer server;
  servers::FaultProxy proxy(server.port());
  Harness harness(proxy.url());
  for (unsigned connects = 1; connects <= 5; ++connects) {
    ASSERT_TRUE(harness.run_until([&] { return harness.client->stats().connects == connects; }));
    EXPECT_FALSE(harness.has_event("breaker open"));
    proxy.cut_after(0);
    EXPECT_EQ(code_of(harness.ask({"PING"})), ErrorCode::ConnectionLost);
  }
  EXPECT_TRUE(harness.has_event("breaker open"));
  EXPECT_TRUE(harness.ask_until_answered({"PING"})) << "it closes with the next connection";
  const auto reported = [&](RedisEvent::Kind kind) {
    return std::count(harness.kinds.begin(), harness.kinds.end(), kind);
  };
  EXPECT_EQ(reported(RedisEvent::Kind::BreakerOpened), 1);
  EXPECT_EQ(reported(RedisEvent::Kind::BreakerClosed), 1);
  EXPECT_GE(reported(RedisEvent::Kind::ConnectionLost), 5);
}

TEST(ClientRedis, RejectsMoreCommandsThanItMayHold) {
  const RedisServer server;
  Options options = Harness::options_for(server.url());
  options.max_in_flight = 3;
  Harness harness(std::move(options));
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  std::vector<Answer> answers;
  for (int i = 0; i < 4; ++i) answers.push_back(harness.send({"PING"}));
  EXPECT_EQ(code_of(harness.wait(answers[3])), ErrorCode::Overloaded);
  EXPECT_EQ(text_of(harness.wait(answers[2])), "PONG");
  EXPECT_EQ(text_of(harness.ask({"PING"})), "PONG");
}

TEST(ClientRedis, AReplicaIsRejected) {
  const RedisServer master;
  const RedisServer replica({.config = {"replicaof 127.0.0.1 " + std::to_string(master.port())}});
  Harness harness(replica.url());
  EXPECT_TRUE(
      harness.run_until([&] { return harness.has_event("is not a master but \"slave\""); }));
  EXPECT_EQ(code_of(harness.ask({"PING"})), ErrorCode::Unavailable);
}

TEST(ClientRedis, ADemotedMasterIsUsedAgainAfterItsPromotion) {
  const RedisServer other;
  const RedisServer server;
  Harness harness(server.url());
  Harness operator_of(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  ASSERT_TRUE(operator_of.ask_until_answered({"PING"}));
  ASSERT_TRUE(operator_of.ask({"REPLICAOF", "127.0.0.1", std::to_string(other.port())}));
  EXPECT_EQ(code_of(harness.ask({"SET", "key", "1"}, 200ms)), ErrorCode::Unavailable);
  EXPECT_TRUE(harness.run_until([&] { return harness.has_event("is not a master"); }));
  ASSERT_TRUE(operator_of.ask({"REPLICAOF", "NO", "ONE"}));
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "1"}));
}

TEST(ClientRedis, AFullServerIsReportedAtOnceWithItsMessage) {
  const RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"CONFIG", "SET", "maxmemory", "1"}));
  const Result<resp::Value> reply = harness.ask({"SET", "key", "1"});
  EXPECT_EQ(code_of(reply), ErrorCode::Unavailable);
  EXPECT_NE(text_of(reply).find("OOM"), std::string::npos);
  EXPECT_EQ(harness.client->stats().retries, 0U);
}

TEST(ClientRedis, OtherErrorsKeepTheServersMessage) {
  const RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "text"}));
  const Result<resp::Value> reply = harness.ask({"INCR", "key"});
  EXPECT_EQ(code_of(reply), ErrorCode::Protocol);
  EXPECT_EQ(reply.error().detail,
            server.address() + ": ERR value is not an integer or out of range");
}

TEST(ClientRedis, ClosingFailsPendingCalls) {
  const RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  const Answer in_flight = harness.send({"BLPOP", "nothing", "0"});
  harness.run_until([&] { return in_flight->has_value(); }, 20ms);
  const Answer waiting = harness.send({"PING"});
  harness.client.reset();
  EXPECT_EQ(code_of(harness.wait(in_flight)), ErrorCode::Unavailable);
  EXPECT_EQ(code_of(harness.wait(waiting)), ErrorCode::Unavailable);
  harness.io.restart();
  harness.io.run();  // the remaining handlers complete
}

// Closes the client from within a reply.
class ClosingCall : public Call {
 public:
  explicit ClosingCall(Harness& harness) : harness_(harness) {}
  void on_reply(Result<resp::Value> /*reply*/) override { harness_.client.reset(); }

 private:
  Harness& harness_;  // outlives the call
};

TEST(ClientRedis, MayBeClosedFromWithinAReply) {
  const RedisServer server;
  Harness harness(server.url());
  ASSERT_TRUE(harness.ask_until_answered({"PING"}));
  harness.client->send(
      {.bytes = resp::command({"PING"}), .deadline = base::deadline_after(Harness::kTestTimeout)},
      std::make_unique<ClosingCall>(harness));
  const Answer behind = harness.send({"PING"});
  EXPECT_EQ(code_of(harness.wait(behind)), ErrorCode::Unavailable);
  harness.io.restart();
  harness.io.run();
}

}  // namespace
}  // namespace penstock::redis
