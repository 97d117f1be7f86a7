#include "wire/resp/commands.hpp"

#include "resp_harness/test_client.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace penstock::wire::resp {
namespace {

using Words = TestClient::Words;

struct Commands : ::testing::Test {
  std::string ask(const Words& words) { return test_client.ask(words); }

  TestServer server;
  TestClient test_client{server};
};

TEST_F(Commands, AreKnownInAnyCase) {
  EXPECT_EQ(ask({"ping"}), "+PONG\r\n");
  EXPECT_EQ(ask({"PiNg", "x"}), "$1\r\nx\r\n");
  EXPECT_EQ(ask({"Cl.Throttle", "k", "1", "1", "1"}), ask({"CL.THROTTLE", "l", "1", "1", "1"}));
}

TEST_F(Commands, UnknownOnesAreNamedAsRedisDoes) {
  EXPECT_EQ(ask({"FLY", "a", "b"}),
            "-ERR unknown command 'FLY', with args beginning with: 'a' 'b' \r\n");
  EXPECT_LT(ask({std::string(5'000, 'x'), std::string(5'000, 'y')}).size(), 400U);
}

TEST_F(Commands, WantTheRightNumberOfWords) {
  for (const Command& each : all_commands()) {
    if (each.min_words < 2 || each.name == "quit") continue;
    EXPECT_EQ(ask(Words(each.min_words - 1, std::string(each.name))),
              "-ERR wrong number of arguments for '" + std::string(each.name) + "' command\r\n");
  }
  EXPECT_EQ(ask({"PENSTOCK.CHECK", "api", "path"}),
            "-ERR wrong number of arguments for 'penstock.check' command\r\n");
}

// Whatever the words: one reply, and the connection goes on.
RC_GTEST_PROP(CommandsProperty, AnyWordsHaveOneReply, ()) {
  TestServer server;
  TestClient test_client(server);
  const auto& command = all_commands()[*rc::gen::inRange<std::size_t>(0, all_commands().size())];
  if (command.name == "quit") return;
  Words words{std::string(command.name)};
  const auto others = *rc::gen::container<Words>(rc::gen::oneOf(
      rc::gen::element<std::string>("0", "1", "-1", "key", "9223372036854775807", "1.5", "NX",
                                    "COST", "-9223372036854775808", "api", "AUTH"),
      rc::gen::arbitrary<std::string>()));
  words.insert(words.end(), others.begin(), others.end());
  test_client.send(TestClient::encoded(words));
  test_client.output();
  RC_ASSERT(server.server_context.statistics.responses[2] +
                server.server_context.statistics.responses[4] ==
            1U);
  const bool opened_transaction = command.name == "multi" && others.empty();
  RC_ASSERT(test_client.ask({"ECHO", "still here"}) ==
            (opened_transaction ? "+QUEUED\r\n" : "$10\r\nstill here\r\n"));
}

TEST_F(Commands, ClThrottleAnswersAsRedisCell) {
  EXPECT_EQ(ask({"CL.THROTTLE", "user", "15", "30", "60", "1"}),
            "*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "user", "15", "30", "60", "15"}),
            "*5\r\n:0\r\n:16\r\n:0\r\n:-1\r\n:32\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "user", "15", "30", "60"}),
            "*5\r\n:1\r\n:16\r\n:0\r\n:2\r\n:32\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "user", "15", "30", "60", "0"}),
            "*5\r\n:0\r\n:16\r\n:0\r\n:-1\r\n:32\r\n");
}

TEST_F(Commands, ClThrottleRefundsWithANegativeQuantity) {
  ask({"CL.THROTTLE", "user", "15", "30", "60", "10"});
  EXPECT_EQ(ask({"CL.THROTTLE", "user", "15", "30", "60", "-4"}),
            "*5\r\n:0\r\n:16\r\n:10\r\n:-1\r\n:12\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "user", "15", "30", "60", "-9223372036854775808"}),
            "*5\r\n:0\r\n:16\r\n:16\r\n:-1\r\n:0\r\n");
}

TEST_F(Commands, ClThrottleErrorsAreThoseOfRedisCell) {
  EXPECT_EQ(ask({"CL.THROTTLE", "k", "1", "0", "1"}),
            "-Cell error: Zero rates are not supported\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "k", "1", "1", "0"}),
            "-Cell error: Zero rates are not supported\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "k", "x", "1", "1"}),
            "-Cell error: Couldn't parse as integer: x\r\n");
  EXPECT_TRUE(ask({"CL.THROTTLE", "k"}).starts_with("-Cell error: Usage: cl.throttle "));
  EXPECT_TRUE(ask({"CL.THROTTLE", "k", "1", "1", "1", "1", "1"}).starts_with("-Cell error: Usage"));
  EXPECT_TRUE(ask({"CL.THROTTLE", "k", "1", "2000000", "1"}).starts_with("-Cell error: rate"));
  EXPECT_TRUE(
      ask({"CL.THROTTLE", "k", "9223372036854775807", "1", "1"}).starts_with("-Cell error"));
  EXPECT_TRUE(ask({"CL.THROTTLE", "k", "-1", "1", "1"}).starts_with("-Cell error: Negative"));
}

TEST_F(Commands, ThrottleAnswersAsThrottlecrab) {
  EXPECT_EQ(ask({"THROTTLE", "user", "10", "100", "60"}), "*5\r\n:1\r\n:10\r\n:9\r\n:5\r\n:0\r\n");
  EXPECT_EQ(ask({"THROTTLE", "user", "10", "100", "60", "9"}),
            "*5\r\n:1\r\n:10\r\n:0\r\n:10\r\n:0\r\n");
  EXPECT_EQ(ask({"THROTTLE", "user", "10", "100", "60", "2"}),
            "*5\r\n:0\r\n:10\r\n:0\r\n:10\r\n:1\r\n");
  EXPECT_EQ(ask({"THROTTLE", "k", "x", "1", "1"}), "-ERR invalid max_burst\r\n");
  EXPECT_EQ(ask({"THROTTLE", "k", "1", "x", "1"}), "-ERR invalid count_per_period\r\n");
  EXPECT_EQ(ask({"THROTTLE", "k", "1", "1", "x"}), "-ERR invalid period\r\n");
  EXPECT_EQ(ask({"THROTTLE", "k", "1", "1", "1", "x"}), "-ERR invalid quantity\r\n");
  EXPECT_EQ(ask({"THROTTLE", "k", "1", "1", "1", "-1"}), "-ERR negative quantity: -1\r\n");
  EXPECT_EQ(ask({"THROTTLE", "k", "0", "1", "1"}), "-ERR invalid rate limit parameters\r\n");
}

TEST_F(Commands, BothCountTheSameKeyUnderTheSameRate) {
  ask({"CL.THROTTLE", "user", "9", "10", "60", "4"});
  EXPECT_TRUE(
      ask({"THROTTLE", "user", "10", "10", "60", "0"}).starts_with("*5\r\n:1\r\n:10\r\n:6\r\n"));
}

TEST_F(Commands, AnUnreachableStoreIsAnErrorNeverADenial) {
  server.store.failure = Error{ErrorCode::Unavailable, "no connection"};
  for (const std::string name : {"CL.THROTTLE", "THROTTLE"}) {
    EXPECT_EQ(ask({name, "k", "1", "1", "1"}), "-ERR store unavailable: the log says why\r\n");
  }
  for (const Words& words : std::vector<Words>{{"CL.THROTTLE", "k", "1", "1", "1", "-1"},
                                               {"INCR", "k"},
                                               {"INCRBYFLOAT", "k", "1"},
                                               {"GET", "k"},
                                               {"DEL", "a", "b"},
                                               {"EXISTS", "a", "b"},
                                               {"EXPIRE", "k", "1"},
                                               {"TTL", "k"}}) {
    EXPECT_EQ(ask(words), "-ERR store unavailable: no connection\r\n") << words.front();
  }
}

TEST_F(Commands, LimitsGivenInTheCommandFollowTheFailurePolicy) {
  const Words cell{"CL.THROTTLE", "k", "15", "30", "60", "2"};
  const Words crab{"THROTTLE", "k", "16", "30", "60", "2"};
  const Words peek{"CL.THROTTLE", "k", "15", "30", "60", "0"};
  const Words refund{"CL.THROTTLE", "k", "15", "30", "60", "-1"};
  auto& on_failure = server.server_context.settings.on_failure;
  server.store.failure = Error{ErrorCode::Unavailable, "down"};

  on_failure = rules::OnFailure::Open;
  EXPECT_EQ(ask(cell), "*5\r\n:0\r\n:16\r\n:16\r\n:-1\r\n:0\r\n");
  EXPECT_EQ(ask(crab), "*5\r\n:1\r\n:16\r\n:16\r\n:28\r\n:0\r\n");
  EXPECT_EQ(ask(peek), "*5\r\n:0\r\n:16\r\n:16\r\n:-1\r\n:0\r\n");
  EXPECT_EQ(server.events.answers.back().reason, service::Reason::FailedOpen);

  on_failure = rules::OnFailure::Closed;
  EXPECT_EQ(ask(cell), "*5\r\n:1\r\n:16\r\n:0\r\n:1\r\n:1\r\n");
  EXPECT_EQ(ask(crab), "*5\r\n:0\r\n:16\r\n:0\r\n:29\r\n:1\r\n");
  EXPECT_EQ(server.events.answers.back().reason, service::Reason::FailedClosed);

  on_failure = rules::OnFailure::Local;
  EXPECT_EQ(ask(cell), "*5\r\n:0\r\n:16\r\n:14\r\n:-1\r\n:4\r\n");
  EXPECT_EQ(ask(peek), "*5\r\n:0\r\n:16\r\n:14\r\n:-1\r\n:4\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "k", "15", "30", "60", "15"}),
            "*5\r\n:1\r\n:16\r\n:14\r\n:2\r\n:4\r\n");
  EXPECT_EQ(server.events.answers.back().reason, service::Reason::DecidedLocally);
  EXPECT_EQ(server.events.domains.back(), "take");
  EXPECT_EQ(ask(refund), "-ERR store unavailable: down\r\n");  // never pretended
}

TEST_F(Commands, LimitsGivenInTheCommandAreCountedAsDecisions) {
  ask({"CL.THROTTLE", "alice", "0", "1", "60"});
  ask({"THROTTLE", "alice", "1", "1", "60"});
  server.store.is_late = true;
  ask({"CL.THROTTLE", "bob", "0", "1", "60"});
  server.store.answer(0);
  server.store.is_late = false;
  server.store.failure = Error{ErrorCode::Timeout, "no reply"};
  ask({"THROTTLE", "carol", "1", "1", "60"});
  std::vector<std::string> said;
  for (const service::Answer& answer : server.events.answers) {
    const core::NamedCheck& check = answer.limits.at(0).matched.check;
    said.push_back(check.name.subject + " " + std::string(to_string(answer.reason)));
  }
  EXPECT_EQ(said, (std::vector<std::string>{"alice within_limits", "alice over_limit",
                                            "bob within_limits", "carol failed_closed"}));
  EXPECT_EQ(server.events.domains, std::vector<std::string>(4, "take"));
  EXPECT_EQ(server.events.failures, std::vector<ErrorCode>{ErrorCode::Timeout});
}

TEST_F(Commands, PenstockCheckIsDecidedByTheRules) {
  const Words search{"PENSTOCK.CHECK", "api", "path", "/search", "user", "alice"};
  EXPECT_EQ(
      ask(search),
      "*7\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:30000\r\n$10\r\napi/search\r\n$13\r\nwithin_limits\r\n");
  ask(search);
  EXPECT_EQ(
      ask(search),
      "*7\r\n:1\r\n:2\r\n:0\r\n:30000\r\n:60000\r\n$10\r\napi/search\r\n$10\r\nover_limit\r\n");
  EXPECT_EQ(ask({"PENSTOCK.CHECK", "api", "path", "/none"}),
            "*7\r\n:0\r\n:-1\r\n:-1\r\n:-1\r\n:-1\r\n$-1\r\n$7\r\nno_rule\r\n");
  EXPECT_TRUE(ask({"PENSTOCK.CHECK", "api", "user", "mallory"}).starts_with("*7\r\n:1\r\n:-1\r\n"));
}

TEST_F(Commands, PenstockCheckTakesACost) {
  const Words bob{"PENSTOCK.CHECK", "api", "path", "/search", "user", "bob", "cost", "2"};
  EXPECT_TRUE(ask(bob).starts_with("*7\r\n:0\r\n:2\r\n:0\r\n"));
  EXPECT_TRUE(
      ask({"PENSTOCK.CHECK", "api", "path", "/search", "COST", "-1"}).starts_with("-ERR COST"));
}

TEST_F(Commands, PenstockCheckIsAMapInResp3) {
  ask({"HELLO", "3"});
  EXPECT_EQ(ask({"PENSTOCK.CHECK", "api", "path", "/none"}),
            "%7\r\n$6\r\ndenied\r\n:0\r\n$5\r\nlimit\r\n:-1\r\n$9\r\nremaining\r\n:-1\r\n"
            "$14\r\nretry_after_ms\r\n:-1\r\n$14\r\nreset_after_ms\r\n:-1\r\n$4\r\nrule\r\n_\r\n"
            "$6\r\nreason\r\n$7\r\nno_rule\r\n");
}

TEST_F(Commands, PenstockCheckFailsAsTheRuleSays) {
  server.store.failure = Error{ErrorCode::Unavailable, "down"};
  const std::string closed = ask({"PENSTOCK.CHECK", "api", "path", "/search", "user", "a"});
  EXPECT_TRUE(closed.starts_with("*7\r\n:1\r\n")) << closed;
  EXPECT_NE(closed.find("failed_closed"), std::string::npos) << closed;
  const std::string open = ask({"PENSTOCK.CHECK", "api", "path", "/open"});
  EXPECT_TRUE(open.starts_with("*7\r\n:0\r\n")) << open;
  EXPECT_NE(open.find("failed_open"), std::string::npos) << open;
}

TEST_F(Commands, CountersCount) {
  EXPECT_EQ(ask({"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(ask({"INCR", "a"}), ":1\r\n");
  EXPECT_EQ(ask({"INCRBY", "a", "41"}), ":42\r\n");
  EXPECT_EQ(ask({"DECR", "a"}), ":41\r\n");
  EXPECT_EQ(ask({"DECRBY", "a", "50"}), ":-9\r\n");
  EXPECT_EQ(ask({"GET", "a"}), "$2\r\n-9\r\n");
  EXPECT_EQ(ask({"INCRBY", "a", "x"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(ask({"DECRBY", "a", "-9223372036854775808"}), "-ERR decrement would overflow\r\n");
  EXPECT_TRUE(ask({"INCRBY", "b", "9223372036854775807"}).starts_with(":"));
  EXPECT_TRUE(ask({"INCR", "b"}).starts_with("-ERR increment or decrement would overflow"));
}

TEST_F(Commands, DecimalsAreExactAndAddUpWithTheIntegerOfTheirName) {
  EXPECT_EQ(ask({"INCRBYFLOAT", "a", "0.1"}), "$3\r\n0.1\r\n");
  EXPECT_EQ(ask({"INCRBYFLOAT", "a", "0.2"}), "$3\r\n0.3\r\n");
  EXPECT_EQ(ask({"GET", "a"}), "$3\r\n0.3\r\n");
  ask({"INCR", "a"});
  EXPECT_EQ(ask({"GET", "a"}), "$3\r\n1.3\r\n");
  EXPECT_EQ(ask({"INCRBYFLOAT", "a", "-1.3"}), "$1\r\n0\r\n");
  ask({"INCRBY", "large", "10000000000"});
  EXPECT_EQ(ask({"INCRBYFLOAT", "large", "0.5"}), "$13\r\n10000000000.5\r\n");
  EXPECT_EQ(ask({"INCRBYFLOAT", "large", "-0.75"}), "$13\r\n9999999999.75\r\n");
  EXPECT_EQ(ask({"GET", "large"}), "$13\r\n9999999999.75\r\n");
  ask({"INCRBY", "below", "-9223372036854775808"});
  EXPECT_EQ(ask({"INCRBYFLOAT", "below", "-0.5"}), "$22\r\n-9223372036854775808.5\r\n");
  EXPECT_TRUE(ask({"INCRBYFLOAT", "a", "x"}).starts_with("-ERR value is not a valid float"));
}

TEST_F(Commands, NamesAreThereUntilTheyAreRemoved) {
  ask({"INCR", "a"});
  ask({"INCRBYFLOAT", "b", "1.5"});
  EXPECT_EQ(ask({"EXISTS", "a", "b", "c", "a"}), ":3\r\n");
  EXPECT_EQ(ask({"DEL", "a", "c"}), ":1\r\n");
  EXPECT_EQ(ask({"EXISTS", "a"}), ":0\r\n");
  EXPECT_EQ(ask({"GET", "a"}), "$-1\r\n");
}

TEST_F(Commands, LifetimesAreSetAndEnd) {
  using std::chrono::milliseconds;
  EXPECT_EQ(ask({"TTL", "a"}), ":-2\r\n");
  EXPECT_EQ(ask({"EXPIRE", "a", "10"}), ":0\r\n");
  ask({"INCR", "a"});
  EXPECT_EQ(ask({"TTL", "a"}), ":-1\r\n");
  EXPECT_EQ(ask({"EXPIRE", "a", "10"}), ":1\r\n");
  EXPECT_EQ(ask({"EXPIRE", "a", "99", "nx"}), ":0\r\n");
  EXPECT_EQ(ask({"EXPIRE", "a", "0", "NX"}), ":0\r\n");  // it has an end
  EXPECT_TRUE(ask({"EXPIRE", "a", "99", "GT"}).starts_with("-ERR Unsupported option GT"));
  server.store.clock.advance(milliseconds{1'600});
  EXPECT_EQ(ask({"PTTL", "a"}), ":8400\r\n");
  EXPECT_EQ(ask({"TTL", "a"}), ":8\r\n");
  EXPECT_EQ(ask({"INCR", "a"}), ":2\r\n");
  server.store.clock.advance(milliseconds{8'400});
  EXPECT_EQ(ask({"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(ask({"INCR", "a"}), ":1\r\n");
  EXPECT_EQ(ask({"EXPIRE", "a", "60", "NX"}), ":1\r\n");
  EXPECT_EQ(ask({"PEXPIRE", "a", "0"}), ":1\r\n");
  EXPECT_EQ(ask({"EXISTS", "a"}), ":0\r\n");
  EXPECT_TRUE(ask({"EXPIRE", "a", "9223372036854775807"}).starts_with("-ERR invalid expire time"));
}

TEST_F(Commands, OfTheConnectionAnswerWhatLibrariesAskFor) {
  EXPECT_EQ(ask({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(ask({"SELECT", "1"}),
            "-ERR DB index is out of range: Penstock has only database 0\r\n");
  EXPECT_EQ(ask({"CLIENT", "SETNAME", "worker-1"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "GETNAME"}), "$8\r\nworker-1\r\n");
  EXPECT_TRUE(ask({"CLIENT", "SETNAME", "a b"}).starts_with("-ERR Client names"));
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "LIB-NAME", "lib"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "LIB-VER", "1.0"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "ID"}), ":1\r\n");
  EXPECT_NE(ask({"CLIENT", "INFO"}).find("name=worker-1"), std::string::npos);
  EXPECT_EQ(ask({"CLIENT", "NO-EVICT", "on"}), "+OK\r\n");
  EXPECT_TRUE(ask({"CLIENT", "KILL", "x"}).starts_with("-ERR unknown subcommand"));
  EXPECT_EQ(ask({"COMMAND", "COUNT"}), ":" + std::to_string(all_commands().size()) + "\r\n");
  EXPECT_EQ(ask({"COMMAND", "DOCS"}), "*0\r\n");
  EXPECT_TRUE(
      ask({"COMMAND", "INFO", "get", "nope"}).starts_with("*2\r\n*10\r\n$3\r\nget\r\n:2\r\n"));
  EXPECT_NE(ask({"INFO"}).find("role:master"), std::string::npos);
  EXPECT_EQ(ask({"INFO", "clients"}).find("role:master"), std::string::npos);
}

TEST_F(Commands, OfAClusterAreAnsweredAsByASingleServer) {
  for (const Words& words : {Words{"CLUSTER", "SLOTS"}, Words{"CLUSTER"}, Words{"READONLY"},
                             Words{"READWRITE"}, Words{"ASKING"}}) {
    EXPECT_EQ(ask(words), "-ERR This instance has cluster support disabled\r\n");
  }
}

TEST_F(Commands, UnsupportedCommandsAreErrors) {
  EXPECT_EQ(ask({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(ask({"SELECT", "1"}),
            "-ERR DB index is out of range: Penstock has only database 0\r\n");
  EXPECT_EQ(ask({"CLIENT", "TRACKING", "ON"}), "-ERR client-side caching is not supported\r\n");
  EXPECT_EQ(ask({"CLIENT", "TRACKING", "ON", "BCAST"}),
            "-ERR client-side caching is not supported\r\n");
  EXPECT_EQ(ask({"CLIENT", "CACHING", "YES"}), "-ERR client-side caching is not supported\r\n");
  EXPECT_EQ(ask({"CLIENT", "TRACKING", "OFF"}), "+OK\r\n");
  EXPECT_TRUE(ask({"WATCH", "k"}).starts_with("-ERR WATCH is not supported"));
  EXPECT_EQ(ask({"UNWATCH"}), "+OK\r\n");
}

}  // namespace
}  // namespace penstock::wire::resp
