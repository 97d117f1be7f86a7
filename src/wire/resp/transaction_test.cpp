#include "resp_harness/test_client.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::wire::resp {
namespace {

using Step = Session::Step;
using Words = TestClient::Words;

constexpr std::string_view kAborted =
    "-EXECABORT Transaction discarded because of previous errors.\r\n";

struct InTransaction : ::testing::Test {
  std::string ask(const Words& words) { return test_client.ask(words); }
  std::string used() { return ask({"GET", "n"}); }

  TestServer server;
  TestClient test_client{server};
};

TEST_F(InTransaction, NothingRunsBeforeExec) {
  EXPECT_EQ(ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(ask({"INCR", "n"}), "+QUEUED\r\n");
  EXPECT_EQ(ask({"PING"}), "+QUEUED\r\n");
  TestClient other(server);
  EXPECT_EQ(other.ask({"GET", "n"}), "$-1\r\n");
  EXPECT_EQ(ask({"EXEC"}), "*2\r\n:1\r\n+PONG\r\n");
  EXPECT_EQ(used(), "$1\r\n1\r\n");
}

TEST_F(InTransaction, DiscardRunsNothing) {
  EXPECT_EQ(ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(ask({"INCR", "n"}), "+QUEUED\r\n");
  EXPECT_EQ(ask({"DISCARD"}), "+OK\r\n");
  EXPECT_EQ(used(), "$-1\r\n");
  EXPECT_EQ(ask({"EXEC"}), "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(ask({"DISCARD"}), "-ERR DISCARD without MULTI\r\n");
}

TEST_F(InTransaction, ResetDiscardsIt) {
  ask({"MULTI"});
  ask({"INCR", "n"});
  EXPECT_EQ(ask({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(ask({"EXEC"}), "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(used(), "$-1\r\n");
}

TEST_F(InTransaction, ACommandThatCannotRunAbortsItAndNothingIsCharged) {
  for (const Words& bad : {Words{"NOPE"}, Words{"INCR"}, Words{"INCR", "n", "n"}}) {
    ask({"MULTI"});
    EXPECT_EQ(ask({"INCR", "n"}), "+QUEUED\r\n");
    EXPECT_TRUE(ask(bad).starts_with("-ERR "));
    EXPECT_EQ(ask({"INCR", "n"}), "+QUEUED\r\n");
    EXPECT_EQ(ask({"EXEC"}), kAborted);
    EXPECT_EQ(used(), "$-1\r\n");
  }
}

TEST_F(InTransaction, ErrorsAreThoseOfRedis) {
  ask({"MULTI"});
  EXPECT_EQ(ask({"MULTI"}), "-ERR MULTI calls can not be nested\r\n");
  EXPECT_EQ(ask({"WATCH", "k"}), "-ERR WATCH inside MULTI is not allowed\r\n");
  EXPECT_EQ(ask({"CL.THROTTLE", "k", "x", "1", "1"}), "+QUEUED\r\n");
  EXPECT_EQ(ask({"ECHO", "a"}), "+QUEUED\r\n");
  EXPECT_EQ(ask({"EXEC"}), "*2\r\n-Cell error: Couldn't parse as integer: x\r\n$1\r\na\r\n");
  ask({"MULTI"});
  EXPECT_EQ(ask({"EXEC"}), "*0\r\n");
}

TEST_F(InTransaction, ItsSizeIsBounded) {
  server.server_context.settings.max_in_flight = 3;
  ask({"MULTI"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask({"INCR", "n"}), "+QUEUED\r\n");
  EXPECT_TRUE(ask({"INCR", "n"}).starts_with("-ERR the transaction is too large"));
  EXPECT_EQ(ask({"EXEC"}), kAborted);

  server.server_context.settings.limits.bytes = 10'000;
  ask({"MULTI"});
  EXPECT_EQ(ask({"ECHO", std::string(6'000, 'x')}), "+QUEUED\r\n");
  EXPECT_TRUE(ask({"ECHO", std::string(6'000, 'x')}).starts_with("-ERR the transaction is too"));
  EXPECT_EQ(ask({"EXEC"}), kAborted);
  EXPECT_EQ(used(), "$-1\r\n");
}

TEST_F(InTransaction, RepliesComeInOrderThoughTheStoreIsLate) {
  server.store.is_late = true;
  const std::string sent = TestClient::encoded({"MULTI"}) + TestClient::encoded({"INCR", "a"}) +
                           TestClient::encoded({"ECHO", "b"}) + TestClient::encoded({"INCR", "c"}) +
                           TestClient::encoded({"EXEC"}) + TestClient::encoded({"PING"});
  EXPECT_EQ(test_client.send(sent), Step::Read);
  EXPECT_EQ(test_client.output(), "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n");
  EXPECT_EQ(server.store.waiting(), 2U);
  server.store.answer(1);
  EXPECT_EQ(test_client.output(), "");
  server.store.answer(0);
  EXPECT_EQ(test_client.output(), ":1\r\n$1\r\nb\r\n:1\r\n+PONG\r\n");
}

TEST_F(InTransaction, ARefundWaitsForTheChecksBeforeIt) {
  server.store.is_late = true;
  const std::string sent = TestClient::encoded({"MULTI"}) +
                           TestClient::encoded({"CL.THROTTLE", "key", "0", "1", "60", "1"}) +
                           TestClient::encoded({"CL.THROTTLE", "key", "0", "1", "60", "-1"}) +
                           TestClient::encoded({"EXEC"}) + TestClient::encoded({"PING"});
  EXPECT_EQ(test_client.send(sent), Step::Wait);
  EXPECT_EQ(server.store.waiting(), 1U);
  EXPECT_TRUE(test_client.session().has_unfinished_input());
  server.store.answer(0);
  EXPECT_EQ(test_client.session().advance(), Step::Read);
  EXPECT_EQ(server.store.waiting(), 1U);
  EXPECT_FALSE(test_client.output().ends_with("+PONG\r\n"));
  server.store.answer(0);
  EXPECT_TRUE(test_client.output().ends_with("+PONG\r\n"));
}

TEST_F(InTransaction, ALargeTransactionPausesAsAPipelineDoes) {
  ask({"MULTI"});
  for (int i = 0; i < 12; ++i) ask({"ECHO", std::string(10'000, 'x')});
  EXPECT_EQ(test_client.send(TestClient::encoded({"EXEC"}) + TestClient::encoded({"PING"})),
            Step::Write);
  std::string output;
  for (int i = 0; i < 3 && !output.ends_with("+PONG\r\n"); ++i) {
    const std::string part = test_client.output();
    EXPECT_LE(part.size(), 80'000U);
    output += part;
    static_cast<void>(test_client.session().advance());
  }
  output += test_client.output();
  EXPECT_TRUE(output.starts_with("*12\r\n$10000\r\n"));
  EXPECT_TRUE(output.ends_with("x\r\n+PONG\r\n"));
}

}  // namespace
}  // namespace penstock::wire::resp
