#include "wire/http/server/conversation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {
namespace {

using Step = Conversation::Step;

// Answers with the path, at once, or when told: then, or below /later.
class Echo final : public Handler {
 public:
  void handle(const Request& request, Respond respond) override {
    requests.emplace_back(request.path);
    seen = &request;
    if (!later && !request.path.starts_with("/later")) {
      respond({.body = std::string(request.path)});
    } else {
      waiting = std::move(respond);
    }
  }
  void answer() {
    const Respond respond = std::move(waiting);
    waiting = nullptr;
    respond({.body = std::string(seen->path)});
  }

  bool later = false;
  std::vector<std::string> requests;
  const Request* seen = nullptr;
  Respond waiting;
};

class ConversationTest : public testing::Test {
 protected:
  void feed(std::string_view bytes) {
    RequestReader& reader = conversation->reader();
    const std::span<char> room = reader.room();
    ASSERT_GE(room.size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    reader.commit(bytes.size());
  }
  void get(std::string_view path, std::string_view more = "") {
    feed("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(more) + "\r\n");
  }
  static std::string answer_text(std::string_view body, std::string_view connection = "") {
    return "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n" + std::string(connection) + "\r\n" +
           std::string(body);
  }

  Echo echo;
  ManualClock clock{Instant{}};
  net::Statistics statistics{};
  Surroundings surroundings{.handler = echo,
                            .clock = clock,
                            .statistics = statistics,
                            .request_timeout = std::chrono::seconds{1}};
  std::shared_ptr<Conversation> conversation =
      std::make_shared<Conversation>(surroundings, net::Peer{.address = "192.0.2.1"});
};

TEST_F(ConversationTest, ReadsAnswersAndReadsAgain) {
  EXPECT_EQ(conversation->advance(), Step::Read);
  get("/a");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a"));
  EXPECT_EQ(conversation->advance(), Step::Read);
  EXPECT_EQ(echo.seen->peer, "192.0.2.1");
  EXPECT_EQ(surroundings.statistics.requests, 1U);
  EXPECT_EQ(surroundings.statistics.responses.at(2), 1U);
}

TEST_F(ConversationTest, AnswersPipelinedRequestsInOneWrite) {
  for (int i = 0; i < 10; ++i) get("/" + std::to_string(i));
  EXPECT_EQ(conversation->advance(), Step::Write);
  std::string expected;
  for (int i = 0; i < 10; ++i) expected += answer_text("/" + std::to_string(i));
  EXPECT_EQ(conversation->take_output(), expected);
  EXPECT_EQ(conversation->advance(), Step::Read);
}

TEST_F(ConversationTest, WaitsForAnAnswerBeforeTheNextRequest) {
  get("/first");
  EXPECT_EQ(conversation->advance(), Step::Write);
  static_cast<void>(conversation->take_output());
  echo.later = true;
  int calls = 0;
  conversation->on_answer = [&calls] { ++calls; };
  get("/a");
  get("/b");
  EXPECT_EQ(conversation->advance(), Step::Wait);
  EXPECT_EQ(conversation->advance(), Step::Wait);
  EXPECT_EQ(echo.requests, (std::vector<std::string>{"/first", "/a"}));
  echo.answer();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a"));
  EXPECT_EQ(conversation->advance(), Step::Wait);
  echo.answer();
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/b"));
}

TEST_F(ConversationTest, SendsWhatItHasBeforeItWaits) {
  get("/a");
  get("/later");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a"));
  EXPECT_EQ(conversation->advance(), Step::Wait);
}

TEST_F(ConversationTest, TakesAnAnswerWhileEarlierOnesAreBeingSent) {
  get("/a");
  get("/later");
  EXPECT_EQ(conversation->advance(), Step::Write);
  const std::string_view sending = conversation->take_output();
  echo.answer();
  EXPECT_EQ(sending, answer_text("/a"));
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/later"));
}

TEST_F(ConversationTest, TellsAClientThatWaitsToGoOn) {
  feed("POST /c HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(conversation->advance(), Step::Read);
}

TEST_F(ConversationTest, ClosesWhenTheClientAsksForIt) {
  get("/a", "Connection: close\r\n");
  get("/never");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a", "Connection: close\r\n"));
  EXPECT_EQ(conversation->advance(), Step::Close);
  EXPECT_EQ(echo.requests.size(), 1U);
}

TEST_F(ConversationTest, AnswersARefusalAndCloses) {
  feed("GET / HTTP/1.1\nHost: x\n\n");
  EXPECT_EQ(conversation->advance(), Step::Write);
  const std::string answer(conversation->take_output());
  EXPECT_EQ(answer.substr(0, 24), "HTTP/1.1 400 Bad Request");
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(conversation->advance(), Step::Close);
  EXPECT_TRUE(echo.requests.empty());
}

TEST_F(ConversationTest, AnswersWhatCameBeforeARefusal) {
  get("/a");
  feed("GET / HTTP/1.1\n");
  EXPECT_EQ(conversation->advance(), Step::Write);
  const std::string answers(conversation->take_output());
  EXPECT_TRUE(answers.starts_with(answer_text("/a")));
  EXPECT_NE(answers.find("HTTP/1.1 400"), std::string::npos);
}

TEST_F(ConversationTest, FinishesTheRequestUnderWayAndTellsTheClient) {
  feed("GET /a HTTP/1.1\r\n");
  EXPECT_EQ(conversation->advance(), Step::Read);
  conversation->finish();
  EXPECT_EQ(conversation->advance(), Step::Read);
  feed("Host: x\r\n\r\n");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a", "Connection: close\r\n"));
  EXPECT_EQ(conversation->advance(), Step::Close);
}

TEST_F(ConversationTest, FinishesAtOnceWhenIdle) {
  get("/a");
  EXPECT_EQ(conversation->advance(), Step::Write);
  static_cast<void>(conversation->take_output());
  EXPECT_EQ(conversation->advance(), Step::Read);
  conversation->finish();
  EXPECT_EQ(conversation->advance(), Step::Close);
}

// Its first request may be on its way.
TEST_F(ConversationTest, AnswersTheFirstRequestOfAConnectionThatIsToFinish) {
  conversation->finish();
  EXPECT_EQ(conversation->advance(), Step::Read);
  get("/a");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a", "Connection: close\r\n"));
  EXPECT_EQ(conversation->advance(), Step::Close);
}

TEST_F(ConversationTest, TheNextAnswerOfADrainingServerClosesTheConnection) {
  get("/a");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/a"));
  conversation->drain();
  EXPECT_EQ(conversation->advance(), Step::Read);  // idle connections stay
  get("/b");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(), answer_text("/b", "Connection: close\r\n"));
  EXPECT_EQ(conversation->advance(), Step::Close);
}

TEST_F(ConversationTest, ADrainingServerAnswersAllPipelinedRequestsFirst) {
  conversation->drain();
  get("/a");
  get("/b");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_EQ(conversation->take_output(),
            answer_text("/a") + answer_text("/b", "Connection: close\r\n"));
  EXPECT_EQ(conversation->advance(), Step::Close);
}

TEST_F(ConversationTest, TakesALateAnswerAfterItsClientIsGone) {
  echo.later = true;
  get("/a");
  EXPECT_EQ(conversation->advance(), Step::Wait);
  conversation->abandon();
  conversation.reset();
  EXPECT_EQ(echo.seen->path, "/a");  // still there
  echo.answer();
}

TEST_F(ConversationTest, CollectsNoMoreThanItCanBound) {
  const std::string body(40'000, 'b');
  class Large final : public Handler {
   public:
    void handle(const Request& /*request*/, Respond respond) override {
      respond({.body = std::string(40'000, 'b')});
    }
  } large;
  Surroundings with_large{.handler = large, .clock = clock, .statistics = statistics};
  conversation = std::make_shared<Conversation>(with_large, net::Peer{});
  for (int i = 0; i < 5; ++i) get("/");
  EXPECT_EQ(conversation->advance(), Step::Write);
  EXPECT_LT(conversation->take_output().size(), 100'000U);
  EXPECT_EQ(conversation->advance(), Step::Write);
}

}  // namespace
}  // namespace penstock::http
