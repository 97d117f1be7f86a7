#include "wire/http/server/session.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {
namespace {

using Step = Session::Step;

// Responds with the path: at once, or when answer() is called if `later` is set or below /later.
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

class HttpSession : public testing::Test {
 protected:
  void feed(std::string_view bytes) {
    RequestReader& reader = session->reader();
    const std::span<char> room = reader.prepare();
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
  ServerContext server_context{echo, clock};
  std::shared_ptr<Session> session =
      std::make_shared<Session>(server_context, net::Peer{.address = "192.0.2.1"});
};

TEST_F(HttpSession, ReadsAnswersAndReadsAgain) {
  EXPECT_EQ(session->advance(), Step::Read);
  get("/a");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a"));
  EXPECT_EQ(session->advance(), Step::Read);
  EXPECT_EQ(echo.seen->peer, "192.0.2.1");
  EXPECT_EQ(server_context.statistics.requests, 1U);
  EXPECT_EQ(server_context.statistics.responses.at(2), 1U);
}

TEST_F(HttpSession, AnswersPipelinedRequestsInOneWrite) {
  for (int i = 0; i < 10; ++i) get("/" + std::to_string(i));
  EXPECT_EQ(session->advance(), Step::Write);
  std::string expected;
  for (int i = 0; i < 10; ++i) expected += answer_text("/" + std::to_string(i));
  EXPECT_EQ(session->take_output(), expected);
  EXPECT_EQ(session->advance(), Step::Read);
}

TEST_F(HttpSession, WaitsForAnAnswerBeforeTheNextRequest) {
  get("/first");
  EXPECT_EQ(session->advance(), Step::Write);
  static_cast<void>(session->take_output());
  echo.later = true;
  int calls = 0;
  session->on_output = [&calls] { ++calls; };
  get("/a");
  get("/b");
  EXPECT_EQ(session->advance(), Step::Wait);
  EXPECT_EQ(session->advance(), Step::Wait);
  EXPECT_EQ(echo.requests, (std::vector<std::string>{"/first", "/a"}));
  echo.answer();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a"));
  EXPECT_EQ(session->advance(), Step::Wait);
  echo.answer();
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/b"));
}

TEST_F(HttpSession, SendsWhatItHasBeforeItWaits) {
  get("/a");
  get("/later");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a"));
  EXPECT_EQ(session->advance(), Step::Wait);
}

TEST_F(HttpSession, TakesAnAnswerWhileEarlierOnesAreBeingSent) {
  get("/a");
  get("/later");
  EXPECT_EQ(session->advance(), Step::Write);
  const std::string_view sending = session->take_output();
  echo.answer();
  EXPECT_EQ(sending, answer_text("/a"));
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/later"));
}

TEST_F(HttpSession, SendsContinueToAClientThatExpectsIt) {
  feed("POST /c HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(session->advance(), Step::Read);
}

TEST_F(HttpSession, ClosesWhenTheClientAsksForIt) {
  get("/a", "Connection: close\r\n");
  get("/never");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a", "Connection: close\r\n"));
  EXPECT_EQ(session->advance(), Step::Close);
  EXPECT_EQ(echo.requests.size(), 1U);
}

TEST_F(HttpSession, AnswersAnInvalidRequestWithAnErrorAndCloses) {
  feed("GET / HTTP/1.1\nHost: x\n\n");
  EXPECT_EQ(session->advance(), Step::Write);
  const std::string answer(session->take_output());
  EXPECT_EQ(answer.substr(0, 24), "HTTP/1.1 400 Bad Request");
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(session->advance(), Step::Close);
  EXPECT_TRUE(echo.requests.empty());
}

TEST_F(HttpSession, AnswersRequestsBeforeAnInvalidOne) {
  get("/a");
  feed("GET / HTTP/1.1\n");
  EXPECT_EQ(session->advance(), Step::Write);
  const std::string answers(session->take_output());
  EXPECT_TRUE(answers.starts_with(answer_text("/a")));
  EXPECT_NE(answers.find("HTTP/1.1 400"), std::string::npos);
}

TEST_F(HttpSession, FinishesTheRequestInFlightAndSendsConnectionClose) {
  feed("GET /a HTTP/1.1\r\n");
  EXPECT_EQ(session->advance(), Step::Read);
  server_context.stopping = true;
  EXPECT_EQ(session->advance(), Step::Read);
  feed("Host: x\r\n\r\n");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a", "Connection: close\r\n"));
  EXPECT_EQ(session->advance(), Step::Close);
}

TEST_F(HttpSession, FinishesAtOnceWhenIdle) {
  get("/a");
  EXPECT_EQ(session->advance(), Step::Write);
  static_cast<void>(session->take_output());
  EXPECT_EQ(session->advance(), Step::Read);
  server_context.stopping = true;
  EXPECT_EQ(session->advance(), Step::Close);
}

// Its first request may be on its way.
TEST_F(HttpSession, AnswersTheFirstRequestBeforeClosing) {
  server_context.stopping = true;
  EXPECT_EQ(session->advance(), Step::Read);
  get("/a");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a", "Connection: close\r\n"));
  EXPECT_EQ(session->advance(), Step::Close);
}

TEST_F(HttpSession, TheNextAnswerOfADrainingServerClosesTheConnection) {
  get("/a");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a"));
  server_context.draining = true;
  EXPECT_EQ(session->advance(), Step::Read);  // idle connections stay
  get("/b");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/b", "Connection: close\r\n"));
  EXPECT_EQ(session->advance(), Step::Close);
}

TEST_F(HttpSession, ADrainingServerAnswersAllPipelinedRequestsFirst) {
  server_context.draining = true;
  get("/a");
  get("/b");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_EQ(session->take_output(), answer_text("/a") + answer_text("/b", "Connection: close\r\n"));
  EXPECT_EQ(session->advance(), Step::Close);
}

TEST_F(HttpSession, IgnoresALateAnswerAfterTheClientDisconnected) {
  echo.later = true;
  get("/a");
  EXPECT_EQ(session->advance(), Step::Wait);
  session->detach();
  session.reset();
  EXPECT_EQ(echo.seen->path, "/a");  // still there
  echo.answer();
}

TEST_F(HttpSession, BoundsTheBatchedOutput) {
  const std::string body(40'000, 'b');
  class Large final : public Handler {
   public:
    void handle(const Request& /*request*/, Respond respond) override {
      respond({.body = std::string(40'000, 'b')});
    }
  } large;
  ServerContext with_large(large, clock);
  session = std::make_shared<Session>(with_large, net::Peer{});
  for (int i = 0; i < 5; ++i) get("/");
  EXPECT_EQ(session->advance(), Step::Write);
  EXPECT_LT(session->take_output().size(), 100'000U);
  EXPECT_EQ(session->advance(), Step::Write);
}

}  // namespace
}  // namespace penstock::http
