#include "gateway/http1/http1_session.hpp"

#include "gateway/server.hpp"
#include "rules/model/configuration.hpp"
#include "service_harness/test_service.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::gateway {
namespace {

using net::Phase;
using net::Step;

constexpr std::string_view kConfiguration =
    "gateway:\n"
    "  listen: 127.0.0.1:1\n"
    "  upstreams: {app: {servers: \"http://127.0.0.1:1\"}}\n"
    "  routes: [{path: /app, upstream: app}]\n";

// No route matches, so the gateway answers with 404 and no upstream is needed.
constexpr std::string_view kGetRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

std::size_t occurrences(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; ++found) {
    at = text.find(word, at + 1);
  }
  return found;
}

class Http1SessionTest : public testing::Test {
 protected:
  ~Http1SessionTest() override { session_->detach(); }

  // What the connection does with bytes of the client.
  Step receive(std::string_view bytes) {
    Step step = advance();
    while (!bytes.empty() && step == Step::Read) {
      const std::span<char> room = session_->prepare();
      const std::size_t size = std::min(room.size(), bytes.size());
      std::copy_n(bytes.begin(), size, room.begin());
      bytes.remove_prefix(size);
      session_->commit(size);
      step = advance();
    }
    return step;
  }
  Step advance() {
    Step step = session_->advance();
    loop_.restart();
    loop_.poll();  // starts the coroutine of the session
    for (step = session_->advance(); step == Step::Write; step = session_->advance()) take();
    take();
    return step;
  }
  void take() {
    for (std::string_view out = session_->take_output(); !out.empty();) {
      output_ += out;
      out = session_->take_output();
    }
  }
  [[nodiscard]] Phase phase() const { return session_->activity().phase; }
  std::shared_ptr<GatewayContext> make_context() {
    auto context = std::make_shared<GatewayContext>(loop_.get_executor(),
                                                    GatewayDeps{.service = service_,
                                                                .metrics = metrics_.add_worker(),
                                                                .in_flight = in_flight_,
                                                                .clock = parts_.clock});
    ServerOptions options;
    options.use(configuration_.settings);
    EXPECT_TRUE(options.apply_to(*context));
    return context;
  }

  rules::Configuration configuration_ =
      rules::load_text(std::string(kConfiguration), "test.yaml").configuration.value();
  boost::asio::io_context loop_{1};
  service::TestService parts_{};
  service::Service service_{parts_.store.stores(), parts_.local, parts_.events,
                            configuration_.rules};
  telemetry::Metrics metrics_{"test"};
  InFlight in_flight_{};
  std::shared_ptr<GatewayContext> context_ = make_context();
  std::shared_ptr<Http1Session> session_ =
      std::make_shared<Http1Session>(context_, loop_.get_executor(), "127.0.0.1", "http");
  std::string output_{};
};

TEST_F(Http1SessionTest, AnswersPipelinedRequestsAndReadsOn) {
  EXPECT_EQ(receive(std::string(kGetRequest) + std::string(kGetRequest)), Step::Read);
  EXPECT_EQ(occurrences(output_, "HTTP/1.1 404 "), 2U);
  EXPECT_EQ(occurrences(output_, "Connection: close"), 0U);
  EXPECT_EQ(phase(), Phase::Idle);
}

TEST_F(Http1SessionTest, AnySplitOfTheBytesIsTheSameRequest) {
  for (const char byte : kGetRequest) EXPECT_EQ(receive({&byte, 1}), Step::Read);
  EXPECT_EQ(occurrences(output_, "HTTP/1.1 404 "), 1U);
}

TEST_F(Http1SessionTest, RejectsAMalformedRequestAndCloses) {
  EXPECT_EQ(receive("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + std::string(kGetRequest)),
            Step::Close);
  EXPECT_TRUE(output_.starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(occurrences(output_, "HTTP/1.1 "), 1U);
  EXPECT_TRUE(session_->is_done());
}

TEST_F(Http1SessionTest, ARequestHasItsTimeFromTheFirstByte) {
  EXPECT_EQ(receive(""), Step::Read);
  EXPECT_EQ(phase(), Phase::Idle);
  EXPECT_EQ(receive("GET / HT"), Step::Read);
  const net::Activity begun = session_->activity();
  EXPECT_EQ(begun.phase, Phase::Header);
  EXPECT_EQ(receive("TP/1.1\r\n"), Step::Read);
  EXPECT_EQ(session_->activity(), begun);  // so its time does not start again
  EXPECT_EQ(session_->on_timeout(Phase::Header), net::TimeoutAction::Reject);
  EXPECT_EQ(advance(), Step::Close);
  EXPECT_TRUE(output_.starts_with("HTTP/1.1 408 "));
}

TEST_F(Http1SessionTest, ClosesAfterAnAnswerThatDoesNotWaitForTheBody) {
  EXPECT_EQ(receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"), Step::Close);
  EXPECT_TRUE(output_.starts_with("HTTP/1.1 404 "));
  EXPECT_EQ(occurrences(output_, "Connection: close"), 1U);
  EXPECT_TRUE(session_->is_done());
}

TEST_F(Http1SessionTest, HandsOverToHttp2OnlyAtTheStart) {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  EXPECT_EQ(receive(kPreface.substr(0, 10)), Step::Read);
  EXPECT_EQ(receive(kPreface.substr(10)), Step::Switch);
  EXPECT_TRUE(output_.empty());

  session_->detach();
  session_ = std::make_shared<Http1Session>(context_, loop_.get_executor(), "127.0.0.1", "http");
  EXPECT_EQ(receive(kGetRequest), Step::Read);
  EXPECT_EQ(receive(kPreface), Step::Close);
  EXPECT_EQ(occurrences(output_, "HTTP/1.1 404 "), 1U);
}

TEST_F(Http1SessionTest, HandsOverToHttp2ThatTlsNegotiated) {
  session_->on_protocol("http/1.1");
  EXPECT_EQ(advance(), Step::Read);
  session_->on_protocol("h2");
  EXPECT_EQ(advance(), Step::Switch);
}

TEST_F(Http1SessionTest, AStoppingServerWaitsForTheFirstRequestOnly) {
  context_->stopping = true;
  EXPECT_EQ(advance(), Step::Read);
  EXPECT_EQ(phase(), Phase::Linger);
  EXPECT_EQ(receive(kGetRequest), Step::Close);
  EXPECT_EQ(occurrences(output_, "Connection: close"), 1U);
}

TEST_F(Http1SessionTest, AStoppingServerClosesAnIdleConnection) {
  EXPECT_EQ(receive(kGetRequest), Step::Read);
  context_->stopping = true;
  EXPECT_TRUE(session_->closes_silently());
  EXPECT_EQ(advance(), Step::Close);
  EXPECT_TRUE(session_->is_done());
}

TEST_F(Http1SessionTest, ADrainingServerAnswersPipelinedRequestsBeforeItCloses) {
  context_->draining = true;
  EXPECT_EQ(receive(std::string(kGetRequest) + std::string(kGetRequest)), Step::Close);
  EXPECT_EQ(occurrences(output_, "HTTP/1.1 404 "), 2U);
  EXPECT_EQ(occurrences(output_, "Connection: close"), 1U);
  EXPECT_GT(output_.find("Connection: close"), output_.rfind("HTTP/1.1 404 "));
}

TEST_F(Http1SessionTest, TheEndOfTheInputEndsTheSession) {
  EXPECT_EQ(receive(kGetRequest), Step::Read);
  EXPECT_FALSE(session_->on_end());
}

TEST_F(Http1SessionTest, RejectsAClientWithoutARequest) {
  session_->reject({503, "too many connections"});
  EXPECT_EQ(advance(), Step::Close);
  EXPECT_TRUE(output_.starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(session_->is_done());
}

}  // namespace
}  // namespace penstock::gateway
