// Memory of calls, permission to refund, and metadata that is too large.

#include "grpc_calls/grpc_client.hpp"
#include "grpc_calls/gzip.hpp"
#include "rules/model/configuration.hpp"
#include "service_harness/test_service.hpp"
#include "wire/grpc/session.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace penstock::wire::grpc {
namespace {

constexpr std::size_t kMessageBytes = 10'000;
constexpr std::size_t kConnectionBytes = 100'000;

struct LimitedServer {
  LimitedServer() {
    server_context.http2_options.max_header_bytes = 1000;
    connect(Refunds::Allowed);
  }
  void connect(Refunds refunds) {
    client = std::make_unique<http2_client::ClientSession>();
    session = std::make_unique<Session>(server_context, refunds);
  }
  void exchange() {
    for (int rounds = 0; rounds < 1000; ++rounds) {
      const std::string there = client->take_output();
      if (!there.empty() && !session->receive(there, now)) return;
      const std::string back(session->take_output());
      if (there.empty() && back.empty()) return;
      client->receive(back);
    }
  }
  // The status of a complete call.
  std::string status(const std::string& body, const http2_client::Fields& more = {}) {
    const auto stream =
        client->request(grpc_calls::head_of(grpc_calls::kShouldRateLimit, more), body);
    exchange();
    const std::string code = client->answer(stream).field("grpc-status");
    const auto& trailers = client->answer(stream).trailers;
    return trailers.empty() ? code : trailers[0].second;
  }
  // Begins a call with a part of its message.
  std::int32_t half_send(std::size_t bytes) {
    std::string body(kPrefix + bytes, 'x');
    write_prefix(body.data(), kMessageBytes);
    const auto stream = client->open(grpc_calls::head_of(grpc_calls::kShouldRateLimit));
    client->send(stream, body, false);
    exchange();
    return stream;
  }

  service::TestService parts{};
  service::Service service{parts.store.stores(), parts.local, parts.events,
                           rules::load_text("domains: {api: {rules: [{name: r, key: [user], limit: "
                                            "3/day, algorithm: fixed_window}]}}",
                                            "t.yaml")
                               .configuration.value()
                               .rules};
  net::ServerState state{net::Timeouts::Durations{}};
  RateLimiter limiter{service, {}};
  ServerContext server_context{.limiter = limiter,
                               .state = state,
                               .max_message_bytes = kMessageBytes,
                               .max_connection_buffer_bytes = kConnectionBytes,
                               .max_buffer_bytes = 3 * kConnectionBytes,
                               .request_timeout = std::chrono::seconds{1},
                               .receive_timeout = std::chrono::seconds{5}};
  std::unique_ptr<Session> session{};
  std::unique_ptr<http2_client::ClientSession> client{};
  base::Deadline now{std::chrono::seconds{1000}};
};

std::string question_of(const std::string& user) {
  return grpc_calls::framed(grpc_calls::request_of("api", {{{"user", user}}}).SerializeAsString());
}

TEST(GrpcSessionLimits, HalfSentMessagesOfAConnectionStayWithinItsBuffer) {
  LimitedServer server;
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 100; ++i) streams.push_back(server.half_send(kMessageBytes - 1));
  EXPECT_LE(server.server_context.buffered, kConnectionBytes + 2 * kMessageBytes);
  std::size_t exhausted = 0;
  for (const std::int32_t stream : streams) {
    exhausted += server.client->answer(stream).field("grpc-status") == "8" ? 1U : 0U;
  }
  EXPECT_GE(exhausted, 85U);
  EXPECT_LT(exhausted, 95U);
  // The calls that fit are still there, and one of them going makes room.
  EXPECT_EQ(server.session->incomplete(), 100U - exhausted);
  for (std::size_t i = 0; i < 3; ++i) server.client->reset(streams[i]);
  server.exchange();
  EXPECT_EQ(server.status(question_of("a")), "0");
}

TEST(GrpcSessionLimits, HalfSentMessagesOfAllConnectionsStayWithinTheBuffer) {
  LimitedServer server;
  std::vector<std::unique_ptr<Session>> others;
  std::vector<std::unique_ptr<http2_client::ClientSession>> clients;
  for (int connections = 0; connections < 6; ++connections) {
    for (int i = 0; i < 20; ++i) server.half_send(kMessageBytes - 1);
    EXPECT_LE(server.server_context.buffered, 3 * kConnectionBytes + 2 * kMessageBytes);
    others.push_back(std::move(server.session));
    clients.push_back(std::move(server.client));
    server.connect(Refunds::Allowed);
  }
  EXPECT_GT(server.server_context.buffered, 2 * kConnectionBytes);
  others.clear();
  EXPECT_EQ(server.server_context.buffered, 0U);
  EXPECT_EQ(server.status(question_of("a")), "0");
}

TEST(GrpcSessionLimits, InflatedMessagesCountToo) {
  LimitedServer server;
  server.parts.store.is_late = true;  // the messages are held until it answers
  auto large = grpc_calls::request_of("api", {{{"user", "a"}}});
  large.mutable_descriptors(0)->mutable_entries(0)->set_value(std::string(9000, 'a'));
  const std::string body = grpc_calls::framed(grpc_calls::gzipped(large.SerializeAsString()));
  std::string compressed = body;
  compressed[0] = 1;
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 50; ++i) {
    streams.push_back(server.client->request(
        grpc_calls::head_of(grpc_calls::kShouldRateLimit, {{"grpc-encoding", "gzip"}}),
        compressed));
    server.exchange();
  }
  EXPECT_LE(server.server_context.buffered, kConnectionBytes + 2 * kMessageBytes);
  EXPECT_EQ(server.client->answer(streams.back()).field("grpc-status"), "8");
  server.parts.store.answer_late();
  server.exchange();
  EXPECT_FALSE(server.client->answer(streams.front()).trailers.empty());
}

TEST(GrpcSessionLimits, BuffersOfABurstAreFreedWhenItIsOver) {
  LimitedServer server;
  server.server_context.max_connection_buffer_bytes = 100 * kConnectionBytes;
  server.server_context.max_buffer_bytes = 100 * kConnectionBytes;
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 300; ++i) streams.push_back(server.half_send(4000));
  EXPECT_GT(server.server_context.buffered, std::size_t{1'000'000});
  for (const std::int32_t stream : streams) server.client->reset(stream);
  server.exchange();
  EXPECT_TRUE(server.session->is_idle());
  EXPECT_LE(server.server_context.buffered, std::size_t{80'000});
  server.session->trim();
  EXPECT_EQ(server.server_context.buffered, 0U);
  EXPECT_EQ(server.status(question_of("a")), "0");
}

TEST(GrpcSessionLimits, MetadataThatIsTooLargeFailsTheCallAndNotTheConnection) {
  LimitedServer server;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.status(question_of("a"), {{"x", std::string(20'000, 'x')}}), "8");
  }
  EXPECT_EQ(server.status(question_of("a")), "0");
  EXPECT_TRUE(server.client->goodbyes.empty());
}

TEST(GrpcSessionLimits, RefundsOfClientsThatMayNotRefundArePeeks) {
  LimitedServer server;
  const auto asked = [&](std::uint64_t hits, bool refunds) {
    auto request = grpc_calls::request_of("api", {{{"user", "b"}}});
    request.mutable_descriptors(0)->mutable_hits_addend()->set_value(hits);
    request.mutable_descriptors(0)->set_is_negative_hits(refunds);
    const auto stream = server.client->request(grpc_calls::head_of(grpc_calls::kShouldRateLimit),
                                               grpc_calls::framed(request.SerializeAsString()));
    server.exchange();
    return grpc_calls::response_of(server.client->answer(stream)).statuses(0).limit_remaining();
  };
  server.connect(Refunds::Ignored);
  EXPECT_EQ(asked(2, false), 1U);
  EXPECT_EQ(asked(2, true), 1U);
  EXPECT_EQ(server.state.statistics.refunds_ignored, 1U);
  server.connect(Refunds::Allowed);
  EXPECT_EQ(asked(2, true), 3U);
  EXPECT_EQ(server.state.statistics.refunds_ignored, 1U);
}

}  // namespace
}  // namespace penstock::wire::grpc
