#include "wire/resp/session.hpp"

#include "resp_harness/test_client.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::wire::resp {
namespace {

using Step = Session::Step;

struct RespSession : ::testing::Test {
  TestServer server;
  TestClient test_client{server};
};

// However late and in whatever order the store answers, replies come in the order of the commands.
RC_GTEST_PROP(RespSessionOrder, RepliesAreInTheOrderOfTheCommands, ()) {
  TestServer server;
  TestClient test_client(server);
  std::string sent;
  std::string expected;
  const auto commands = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  int counts = 0;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string text = std::to_string(i);
    if (commands[i] == 0) {
      sent += TestClient::encoded({"ECHO", text});
      expected += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    } else if (commands[i] == 1) {
      sent += "gibberish\r\n";
      expected += "-ERR unknown command 'gibberish', with args beginning with: \r\n";
    } else {
      sent += TestClient::encoded({"INCRBY", "name" + text, text});
      expected += ":" + text + "\r\n";
      ++counts;
    }
  }
  server.store.is_late = true;
  RC_ASSERT(test_client.send(sent) == Step::Read);
  RC_ASSERT(server.store.waiting() == static_cast<std::size_t>(counts));  // all at once
  std::string output = test_client.output();
  while (server.store.waiting() > 0) {
    server.store.answer(*rc::gen::inRange<std::size_t>(0, server.store.waiting()));
    output += test_client.output();
    RC_ASSERT(expected.starts_with(output));
  }
  RC_ASSERT(output == expected);
  RC_ASSERT(test_client.answers == counts);
}

TEST_F(RespSession, PausesReadingWhileTooManyCommandsAreInFlight) {
  server.server_context.settings.max_in_flight = 3;
  server.store.is_late = true;
  std::string sent;
  for (int i = 0; i < 5; ++i) sent += TestClient::encoded({"CL.THROTTLE", "key", "9", "10", "60"});
  EXPECT_EQ(test_client.send(sent), Step::Wait);
  EXPECT_EQ(server.store.waiting(), 3U);
  server.store.answer(0);
  EXPECT_EQ(test_client.session().advance(), Step::Wait);
  EXPECT_EQ(server.store.waiting(), 3U);
  while (server.store.waiting() > 0) server.store.answer(0);
  EXPECT_EQ(test_client.session().advance(), Step::Read);
  EXPECT_EQ(server.store.waiting(), 1U);
}

TEST_F(RespSession, PausesReadingWhileTooMuchIsUnsent) {
  std::string sent;
  for (int i = 0; i < 12; ++i) sent += TestClient::encoded({"ECHO", std::string(10'000, 'x')});
  EXPECT_EQ(test_client.send(sent.substr(0, 90'000)), Step::Write);
  EXPECT_LE(test_client.output().size(), 80'000U);
  EXPECT_EQ(test_client.session().advance(), Step::Read);
}

TEST_F(RespSession, PausesReadingWhileTooMuchWaitsForAMissingReply) {
  server.store.is_late = true;
  std::string sent = TestClient::encoded({"INCR", "a"});
  for (int i = 0; i < 12; ++i) sent += TestClient::encoded({"ECHO", std::string(10'000, 'x')});
  EXPECT_EQ(test_client.send(sent), Step::Wait);
  EXPECT_EQ(test_client.output(), "");
  server.store.answer(0);
  EXPECT_LE(test_client.output().size(), 80'000U);
  EXPECT_EQ(test_client.session().advance(), Step::Read);
}

TEST_F(RespSession, ARefundWaitsForTheChecksBeforeIt) {
  server.store.is_late = true;
  EXPECT_EQ(test_client.send(TestClient::encoded({"CL.THROTTLE", "key", "0", "1", "60", "1"}) +
                             TestClient::encoded({"CL.THROTTLE", "key", "0", "1", "60", "-1"}) +
                             TestClient::encoded({"PING"})),
            Step::Wait);
  EXPECT_EQ(server.store.waiting(), 1U);
  EXPECT_TRUE(test_client.session().has_unfinished_input());
  server.store.answer(0);
  EXPECT_EQ(test_client.session().advance(), Step::Read);
  EXPECT_EQ(server.store.waiting(), 1U);
  server.store.answer(0);
  EXPECT_TRUE(test_client.output().ends_with("+PONG\r\n"));
}

TEST_F(RespSession, ClosesAfterAProtocolError) {
  server.store.is_late = true;
  EXPECT_EQ(test_client.send(TestClient::encoded({"INCR", "a"}) + "*1\r\n$x\r\n" +
                             TestClient::encoded({"PING"})),
            Step::Close);
  EXPECT_FALSE(test_client.session().is_done());
  EXPECT_EQ(test_client.output(), "");
  server.store.answer(0);
  EXPECT_EQ(test_client.output(), ":1\r\n-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(test_client.session().is_done());
}

TEST_F(RespSession, QuitIsTheLastCommandAnswered) {
  EXPECT_EQ(test_client.send("PING\r\nQUIT\r\nPING\r\n"), Step::Close);
  EXPECT_EQ(test_client.output(), "+PONG\r\n+OK\r\n");
  EXPECT_TRUE(test_client.session().is_done());
}

TEST_F(RespSession, AnswersCommandsInFlightBeforeClosing) {
  EXPECT_EQ(test_client.send("PI"), Step::Read);
  server.server_context.stopping = true;
  EXPECT_EQ(test_client.session().advance(), Step::Read);
  EXPECT_EQ(test_client.send("NG\r\n"), Step::Close);
  EXPECT_EQ(test_client.output(), "+PONG\r\n");
}

// Its first command may be on its way.
TEST_F(RespSession, AnswersTheFirstCommandBeforeClosing) {
  server.server_context.stopping = true;
  EXPECT_EQ(test_client.session().advance(), Step::Read);
  EXPECT_EQ(test_client.send("PING\r\n"), Step::Close);
  EXPECT_EQ(test_client.output(), "+PONG\r\n");
}

TEST_F(RespSession, LateAnswersAreIgnoredAfterTheClientDisconnected) {
  server.store.is_late = true;
  test_client.send(TestClient::encoded({"INCR", "a"}));
  test_client.disconnect();
  server.store.answer(0);
  EXPECT_EQ(test_client.output(), "");
}

TEST_F(RespSession, UnauthenticatedClientsMayOnlyAuthenticate) {
  server.server_context.settings.passwords = {"sesame"};
  TestClient stranger(server);
  EXPECT_EQ(stranger.ask({"PING"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(stranger.ask({"INCR", "a"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_TRUE(stranger.ask({"HELLO", "3"}).starts_with("-NOAUTH HELLO"));
  EXPECT_TRUE(stranger.ask({"AUTH", "wrong"}).starts_with("-WRONGPASS"));
  EXPECT_TRUE(stranger.ask({"AUTH", "root", "sesame"}).starts_with("-WRONGPASS"));
  EXPECT_EQ(stranger.ask({"AUTH", "sesame"}), "+OK\r\n");
  EXPECT_EQ(stranger.ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(stranger.ask({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(stranger.ask({"PING"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(stranger.ask({"AUTH", "default", "sesame"}), "+OK\r\n");
}

TEST_F(RespSession, EachPasswordIsAcceptedAndANewListAppliesToNewClients) {
  server.server_context.settings.passwords = {"old", "new"};
  TestClient with_old(server);
  EXPECT_EQ(with_old.ask({"AUTH", "old"}), "+OK\r\n");
  TestClient with_new(server);
  EXPECT_EQ(with_new.ask({"HELLO", "2", "AUTH", "default", "new"}).substr(0, 1), "*");
  server.server_context.settings.passwords = {"new"};
  EXPECT_EQ(with_old.ask({"PING"}), "+PONG\r\n");  // stays authenticated, as in Redis
  EXPECT_TRUE(TestClient(server).ask({"AUTH", "old"}).starts_with("-WRONGPASS"));
  EXPECT_EQ(TestClient(server).ask({"AUTH", "new"}), "+OK\r\n");
}

TEST_F(RespSession, UnauthenticatedClientsHaveSmallBuffers) {
  server.server_context.settings.passwords = {"sesame"};
  TestClient stranger(server);
  EXPECT_EQ(stranger.ask({"AUTH", std::string(20'000, 'x')}),
            "-ERR Protocol error: invalid bulk length\r\n");
}

TEST_F(RespSession, HelloSwitchesTheProtocolVersion) {
  server.server_context.settings.version = "1.2.3";
  server.server_context.settings.passwords = {"sesame"};
  TestClient client(server);
  const std::string hello =
      client.ask({"HELLO", "3", "AUTH", "default", "sesame", "SETNAME", "me"});
  EXPECT_TRUE(hello.starts_with("%7\r\n$6\r\nserver\r\n$8\r\npenstock\r\n$7\r\nversion\r\n"))
      << hello;
  EXPECT_NE(hello.find("$5\r\nproto\r\n:3\r\n"), std::string::npos);
  EXPECT_EQ(client.ask({"CLIENT", "GETNAME"}), "$2\r\nme\r\n");
  EXPECT_EQ(client.ask({"GET", "nothing"}), "_\r\n");
  EXPECT_TRUE(client.ask({"HELLO", "2"}).starts_with("*14\r\n"));
  EXPECT_EQ(client.ask({"GET", "nothing"}), "$-1\r\n");
  EXPECT_EQ(client.ask({"HELLO", "4"}), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(client.ask({"HELLO", "3", "WHAT"}), "-ERR Syntax error in HELLO option 'WHAT'\r\n");
}

// A web page that posts to this port: nothing of the body may run.
TEST_F(RespSession, HttpIsClosedBeforeAnythingRuns) {
  for (const std::string_view request :
       {"POST / HTTP/1.1\r\nHost: a\r\n\r\nINCR n\r\n", "post / HTTP/1.1\r\nINCR n\r\n",
        "GET / HTTP/1.1\r\nINCR n\r\n", "Host: localhost:6380\r\nINCR n\r\n",
        "OPTIONS * HTTP/1.0\r\nINCR n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nINCR n\r\n",
        "*1\r\n$4\r\nPOST\r\nINCR n\r\n"}) {
    TestClient page(server);
    EXPECT_EQ(page.send(request), Step::Close) << request;
    EXPECT_EQ(page.output(), "");
    EXPECT_TRUE(page.session().is_done());
  }
  EXPECT_EQ(server.server_context.statistics.http_requests, 7U);
  EXPECT_EQ(server.server_context.statistics.last_http_peer, "127.0.0.1:5");
  EXPECT_EQ(test_client.ask({"GET", "n"}), "$-1\r\n");
}

TEST_F(RespSession, KeysMayLookLikeHttp) {
  EXPECT_EQ(test_client.ask({"DEL", "n", "HTTP/1.1"}), ":0\r\n");
  EXPECT_EQ(server.server_context.statistics.http_requests, 0U);
}

TEST_F(RespSession, CountsCommandsAndReplies) {
  test_client.ask({"PING"});
  test_client.ask({"NOPE"});
  server.store.failure = Error{ErrorCode::Unavailable, "down"};
  test_client.ask({"INCR", "a"});
  EXPECT_EQ(server.server_context.statistics.requests, 3U);
  EXPECT_EQ(server.server_context.statistics.responses[2], 1U);
  EXPECT_EQ(server.server_context.statistics.responses[4], 1U);
  EXPECT_EQ(server.server_context.statistics.responses[5], 1U);
}

}  // namespace
}  // namespace penstock::wire::resp
