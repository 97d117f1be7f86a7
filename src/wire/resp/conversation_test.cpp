#include "wire/resp/conversation.hpp"

#include "resp_harness/talk.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::wire::resp {
namespace {

using Step = Conversation::Step;

struct Talking : ::testing::Test {
  TestDoor door;
  Talk talk{door};
};

// However late and in whatever order the store answers, replies come in the order of the commands.
RC_GTEST_PROP(ConversationOrder, RepliesAreInTheOrderOfTheCommands, ()) {
  TestDoor door;
  Talk talk(door);
  std::string sent;
  std::string expected;
  const auto commands = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  int counts = 0;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string text = std::to_string(i);
    if (commands[i] == 0) {
      sent += Talk::encoded({"ECHO", text});
      expected += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    } else if (commands[i] == 1) {
      sent += "nonsense\r\n";
      expected += "-ERR unknown command 'nonsense', with args beginning with: \r\n";
    } else {
      sent += Talk::encoded({"INCRBY", "name" + text, text});
      expected += ":" + text + "\r\n";
      ++counts;
    }
  }
  door.store.is_late = true;
  RC_ASSERT(talk.send(sent) == Step::Read);
  RC_ASSERT(door.store.waiting() == static_cast<std::size_t>(counts));  // all at once
  std::string output = talk.output();
  while (door.store.waiting() > 0) {
    door.store.answer(*rc::gen::inRange<std::size_t>(0, door.store.waiting()));
    output += talk.output();
    RC_ASSERT(expected.starts_with(output));
  }
  RC_ASSERT(output == expected);
  RC_ASSERT(talk.answers == counts);
}

TEST_F(Talking, ReadsNoMoreWhileTooManyAreUnderWay) {
  door.surroundings.terms.most_under_way = 3;
  door.store.is_late = true;
  std::string sent;
  for (int i = 0; i < 5; ++i) sent += Talk::encoded({"CL.THROTTLE", "key", "9", "10", "60"});
  EXPECT_EQ(talk.send(sent), Step::Pause);
  EXPECT_EQ(door.store.waiting(), 3U);
  door.store.answer(0);
  EXPECT_EQ(talk.conversation().advance(), Step::Pause);
  EXPECT_EQ(door.store.waiting(), 3U);
  while (door.store.waiting() > 0) door.store.answer(0);
  EXPECT_EQ(talk.conversation().advance(), Step::Read);
  EXPECT_EQ(door.store.waiting(), 1U);
}

TEST_F(Talking, ReadsNoMoreWhileMuchIsUnsent) {
  std::string sent;
  for (int i = 0; i < 12; ++i) sent += Talk::encoded({"ECHO", std::string(10'000, 'x')});
  EXPECT_EQ(talk.send(sent.substr(0, 90'000)), Step::Pause);
  EXPECT_LE(talk.output().size(), 80'000U);
  EXPECT_EQ(talk.conversation().advance(), Step::Read);
}

TEST_F(Talking, ReadsNoMoreWhileMuchWaitsForAReplyThatIsMissing) {
  door.store.is_late = true;
  std::string sent = Talk::encoded({"INCR", "a"});
  for (int i = 0; i < 12; ++i) sent += Talk::encoded({"ECHO", std::string(10'000, 'x')});
  EXPECT_EQ(talk.send(sent), Step::Pause);
  EXPECT_EQ(talk.output(), "");
  door.store.answer(0);
  EXPECT_LE(talk.output().size(), 80'000U);
  EXPECT_EQ(talk.conversation().advance(), Step::Read);
}

TEST_F(Talking, ARefundWaitsForTheChecksBeforeIt) {
  door.store.is_late = true;
  EXPECT_EQ(talk.send(Talk::encoded({"CL.THROTTLE", "key", "0", "1", "60", "1"}) +
                      Talk::encoded({"CL.THROTTLE", "key", "0", "1", "60", "-1"}) +
                      Talk::encoded({"PING"})),
            Step::Pause);
  EXPECT_EQ(door.store.waiting(), 1U);
  EXPECT_TRUE(talk.conversation().has_unfinished_input());
  door.store.answer(0);
  EXPECT_EQ(talk.conversation().advance(), Step::Read);
  EXPECT_EQ(door.store.waiting(), 1U);
  door.store.answer(0);
  EXPECT_TRUE(talk.output().ends_with("+PONG\r\n"));
}

TEST_F(Talking, EndsAfterTheErrorOfABrokenStream) {
  door.store.is_late = true;
  EXPECT_EQ(talk.send(Talk::encoded({"INCR", "a"}) + "*1\r\n$x\r\n" + Talk::encoded({"PING"})),
            Step::Close);
  EXPECT_FALSE(talk.conversation().is_done());
  EXPECT_EQ(talk.output(), "");
  door.store.answer(0);
  EXPECT_EQ(talk.output(), ":1\r\n-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(talk.conversation().is_done());
}

TEST_F(Talking, QuitIsTheLastThatIsAnswered) {
  EXPECT_EQ(talk.send("PING\r\nQUIT\r\nPING\r\n"), Step::Close);
  EXPECT_EQ(talk.output(), "+PONG\r\n+OK\r\n");
  EXPECT_TRUE(talk.conversation().is_done());
}

TEST_F(Talking, FinishesWhatIsUnderWayWhenItHasToGo) {
  EXPECT_EQ(talk.send("PI"), Step::Read);
  talk.conversation().finish();
  EXPECT_EQ(talk.conversation().advance(), Step::Read);
  EXPECT_EQ(talk.send("NG\r\n"), Step::Close);
  EXPECT_EQ(talk.output(), "+PONG\r\n");
}

// Its first command may be on its way.
TEST_F(Talking, TheFirstCommandIsAnsweredOfAConnectionThatHasToGo) {
  talk.conversation().finish();
  EXPECT_EQ(talk.conversation().advance(), Step::Read);
  EXPECT_EQ(talk.send("PING\r\n"), Step::Close);
  EXPECT_EQ(talk.output(), "+PONG\r\n");
}

TEST_F(Talking, LateAnswersGoNowhereOnceNobodyIsThere) {
  door.store.is_late = true;
  talk.send(Talk::encoded({"INCR", "a"}));
  talk.conversation().abandon();
  door.store.answer(0);
  EXPECT_EQ(talk.output(), "");
}

TEST_F(Talking, StrangersMayOnlySayWhoTheyAre) {
  door.surroundings.terms.passwords = {"sesame"};
  Talk stranger(door);
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

TEST_F(Talking, EachOfSeveralPasswordsWillDoAndANewListAppliesToNewClients) {
  door.surroundings.terms.passwords = {"old", "new"};
  Talk with_old(door);
  EXPECT_EQ(with_old.ask({"AUTH", "old"}), "+OK\r\n");
  Talk with_new(door);
  EXPECT_EQ(with_new.ask({"HELLO", "2", "AUTH", "default", "new"}).substr(0, 1), "*");
  door.surroundings.terms.passwords = {"new"};
  EXPECT_EQ(with_old.ask({"PING"}), "+PONG\r\n");  // stays authenticated, as in Redis
  EXPECT_TRUE(Talk(door).ask({"AUTH", "old"}).starts_with("-WRONGPASS"));
  EXPECT_EQ(Talk(door).ask({"AUTH", "new"}), "+OK\r\n");
}

TEST_F(Talking, StrangersCannotMakeUsKeepMuch) {
  door.surroundings.terms.passwords = {"sesame"};
  Talk stranger(door);
  EXPECT_EQ(stranger.ask({"AUTH", std::string(20'000, 'x')}),
            "-ERR Protocol error: invalid bulk length\r\n");
}

TEST_F(Talking, GreetsInTheProtocolThatIsWanted) {
  door.surroundings.terms.version = "1.2.3";
  door.surroundings.terms.passwords = {"sesame"};
  Talk client(door);
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
TEST_F(Talking, HttpIsClosedBeforeAnythingRuns) {
  for (const std::string_view request :
       {"POST / HTTP/1.1\r\nHost: a\r\n\r\nINCR n\r\n", "post / HTTP/1.1\r\nINCR n\r\n",
        "GET / HTTP/1.1\r\nINCR n\r\n", "Host: localhost:6380\r\nINCR n\r\n",
        "OPTIONS * HTTP/1.0\r\nINCR n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nINCR n\r\n",
        "*1\r\n$4\r\nPOST\r\nINCR n\r\n"}) {
    Talk page(door);
    EXPECT_EQ(page.send(request), Step::Close) << request;
    EXPECT_EQ(page.output(), "");
    EXPECT_TRUE(page.conversation().is_done());
  }
  EXPECT_EQ(door.statistics.http_requests, 7U);
  EXPECT_EQ(door.statistics.http_peer, "127.0.0.1:5");
  EXPECT_EQ(talk.ask({"GET", "n"}), "$-1\r\n");
}

TEST_F(Talking, KeysMayLookLikeHttp) {
  EXPECT_EQ(talk.ask({"DEL", "n", "HTTP/1.1"}), ":0\r\n");
  EXPECT_EQ(door.statistics.http_requests, 0U);
}

TEST_F(Talking, CountsWhatWasAskedAndAnswered) {
  talk.ask({"PING"});
  talk.ask({"NOPE"});
  door.store.failure = Error{ErrorCode::Unavailable, "gone"};
  talk.ask({"INCR", "a"});
  EXPECT_EQ(door.statistics.requests, 3U);
  EXPECT_EQ(door.statistics.responses[2], 1U);
  EXPECT_EQ(door.statistics.responses[4], 1U);
  EXPECT_EQ(door.statistics.responses[5], 1U);
}

}  // namespace
}  // namespace penstock::wire::resp
