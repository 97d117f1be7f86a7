#include "wire/grpc/session.hpp"

#include "grpc_calls/grpc_client.hpp"
#include "grpc_calls/gzip.hpp"
#include "rules/model/configuration.hpp"
#include "service_harness/test_service.hpp"

#include <grpc/health/v1/health.pb.h>
#include <grpc/reflection/v1/reflection.pb.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>

namespace penstock::wire::grpc {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using grpc_calls::framed;
using grpc_calls::head_of;
using grpc_calls::kHealthCheck;
using grpc_calls::kHealthWatch;
using grpc_calls::kReflection;
using grpc_calls::kShouldRateLimit;
using grpc_calls::messages_of;
using grpc_calls::request_of;
using grpc_calls::response_of;
using http2_client::Answer;
using http2_client::ClientSession;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kRules = R"(
domains:
  api:
    rules:
      - {name: per-user, key: [user], limit: 3/day, algorithm: fixed_window}
)";

std::shared_ptr<const rules::Ruleset> load(std::string_view text) {
  return rules::load_text(text, "test.yaml").configuration.value().rules;
}

// A server without sockets.
struct Server {
  explicit Server(RateLimiterOptions options = {})
      : limiter(service, std::move(options)),
        server_context{.limiter = limiter,
                       .state = state,
                       .max_message_bytes = 1000,
                       .request_timeout = seconds{1},
                       .receive_timeout = seconds{5}},
        session(std::make_unique<Session>(server_context)) {
    session->on_output = [this] { ++wakes; };
  }

  service::TestService parts{};
  service::Service service{parts.store.stores(), parts.local, parts.events, load(kRules)};
  net::ServerState state{net::Timeouts::Durations{}};
  RateLimiter limiter;
  ServerContext server_context;
  std::unique_ptr<Session> session;
  base::Deadline now{seconds{1000}};
  int wakes = 0;
};

struct Calls : ::testing::Test {
  void exchange() {
    for (int rounds = 0; rounds < 1000; ++rounds) {
      const std::string there = client.take_output();
      if (!there.empty() && !server->session->receive(there, server->now)) return;
      const std::string back(server->session->take_output());
      if (there.empty() && back.empty()) return;
      client.receive(back);
    }
    ADD_FAILURE() << "there is no end";
  }
  const Answer& call(std::string_view path, std::string_view body,
                     const http2_client::Fields& more = {}) {
    const auto stream = client.request(head_of(path, more), body);
    exchange();
    return client.answer(stream);
  }
  std::string status_of(const Answer& answer) {
    return answer.field("grpc-status") + " " + answer.field("grpc-message");
  }
  static std::string ask(const std::string& user) {
    return framed(request_of("api", {{{"user", user}}}).SerializeAsString());
  }

  std::unique_ptr<Server> server = std::make_unique<Server>();
  ClientSession client;
};

TEST_F(Calls, AreDecidedByTheService) {
  for (const std::uint32_t left : {2U, 1U, 0U}) {
    const Answer& answer = call(kShouldRateLimit, ask("a"));
    EXPECT_EQ(answer.field(":status"), "200");
    EXPECT_EQ(answer.field("content-type"), "application/grpc");
    EXPECT_EQ(answer.trailers, (http2_client::Fields{{"grpc-status", "0"}}));
    EXPECT_EQ(response_of(answer).overall_code(), grpc_calls::RateLimitResponse::OK);
    EXPECT_EQ(response_of(answer).statuses(0).limit_remaining(), left);
  }
  const Answer& refused = call(kShouldRateLimit, ask("a"));
  EXPECT_EQ(refused.field("grpc-status"), "0");
  EXPECT_EQ(response_of(refused).overall_code(), grpc_calls::RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(server->state.statistics.requests, 4U);
  EXPECT_EQ(server->state.statistics.responses[2], 4U);
}

TEST_F(Calls, CostZeroPeeksAndNegativeCostRefunds) {
  const auto with = [](std::uint64_t hits, bool is_refund) {
    auto request = request_of("api", {{{"user", "b"}}});
    request.mutable_descriptors(0)->mutable_hits_addend()->set_value(hits);
    request.mutable_descriptors(0)->set_is_negative_hits(is_refund);
    return framed(request.SerializeAsString());
  };
  EXPECT_EQ(response_of(call(kShouldRateLimit, with(0, false))).statuses(0).limit_remaining(), 3U);
  EXPECT_EQ(response_of(call(kShouldRateLimit, with(2, false))).statuses(0).limit_remaining(), 1U);
  EXPECT_EQ(response_of(call(kShouldRateLimit, with(1, true))).statuses(0).limit_remaining(), 2U);
}

TEST_F(Calls, DescriptorsThatShareALimitHaveAStatusEach) {
  const std::string twice =
      framed(request_of("api", {{{"user", "c"}}, {{"user", "c"}}}).SerializeAsString());
  for (const bool late : {false, true}) {
    server->parts.store.is_late = late;
    const auto stream = client.request(head_of(kShouldRateLimit), twice);
    exchange();
    server->parts.store.answer_late();
    exchange();
    const auto response = response_of(client.answer(stream));
    ASSERT_EQ(response.statuses_size(), 2);
    for (const auto& status : response.statuses()) {
      EXPECT_EQ(status.current_limit().requests_per_unit(), 3U);
      EXPECT_EQ(status.code(), response.overall_code());
    }
  }
}

TEST_F(Calls, LateAnswersWakeTheConnection) {
  server->parts.store.is_late = true;
  const auto first = client.request(head_of(kShouldRateLimit), ask("d"));
  const auto second = client.request(head_of(kShouldRateLimit), ask("d"));
  exchange();
  EXPECT_EQ(server->wakes, 0);
  EXPECT_FALSE(client.answer(first).is_closed);
  server->parts.store.answer_late();
  EXPECT_GE(server->wakes, 1);
  exchange();
  EXPECT_EQ(response_of(client.answer(first)).statuses(0).limit_remaining(), 2U);
  EXPECT_EQ(response_of(client.answer(second)).statuses(0).limit_remaining(), 1U);
}

TEST_F(Calls, CancelledCallsAreForgotten) {
  server->parts.store.is_late = true;
  const auto stream = client.request(head_of(kShouldRateLimit), ask("e"));
  exchange();
  client.reset(stream);
  exchange();
  server->parts.store.answer_late();
  exchange();
  EXPECT_TRUE(client.answer(stream).head.empty());
  server->parts.store.is_late = false;
  EXPECT_EQ(response_of(call(kShouldRateLimit, ask("e"))).statuses(0).limit_remaining(), 1U);
}

TEST_F(Calls, AnswersAfterTheConnectionClosedAreIgnored) {
  server->parts.store.is_late = true;
  client.request(head_of(kShouldRateLimit), ask("f"));
  exchange();
  server->session.reset();
  server->parts.store.answer_late();
}

TEST_F(Calls, DeadlineIsTheClientsOrOurs) {
  call(kShouldRateLimit, ask("g"), {{"grpc-timeout", "20m"}});
  call(kShouldRateLimit, ask("g"));
  call(kShouldRateLimit, ask("g"), {{"grpc-timeout", "99999999H"}});
  ASSERT_EQ(server->parts.store.calls.size(), 3U);
  EXPECT_EQ(server->parts.store.calls[0].deadline, server->now + milliseconds{20});
  EXPECT_EQ(server->parts.store.calls[1].deadline, server->now + seconds{1});
  EXPECT_EQ(server->parts.store.calls[2].deadline, server->now + seconds{60});
}

TEST_F(Calls, RequestsThatNeverEndAreEnded) {
  const auto stream = client.open(head_of(kShouldRateLimit));
  client.send(stream, ask("h").substr(0, 7), false);
  exchange();
  EXPECT_EQ(server->session->incomplete(), 1U);
  server->session->expire(server->now + milliseconds{999});
  EXPECT_EQ(server->session->incomplete(), 1U);
  server->session->expire(server->now + seconds{1});
  exchange();
  EXPECT_EQ(status_of(client.answer(stream)), "4 the request did not arrive in time");
  EXPECT_EQ(server->session->incomplete(), 0U);
  EXPECT_TRUE(server->session->is_idle());
}

TEST_F(Calls, AMessageHasToArriveInTheServersTimeWhateverItsClientAllows) {
  const auto stream = client.open(head_of(kShouldRateLimit, {{"grpc-timeout", "1H"}}));
  client.send(stream, ask("h").substr(0, 7), false);
  exchange();
  server->session->expire(server->now + milliseconds{4999});
  EXPECT_EQ(server->session->incomplete(), 1U);
  server->session->expire(server->now + seconds{5});
  exchange();
  EXPECT_EQ(status_of(client.answer(stream)), "4 the request did not arrive in time");
  EXPECT_EQ(server->session->incomplete(), 0U);
}

TEST_F(Calls, InvalidRequestsHaveTheirStatus) {
  const auto text = [&](std::string_view body, const http2_client::Fields& more = {}) {
    return status_of(call(kShouldRateLimit, body, more));
  };
  const std::string good = ask("i");
  EXPECT_EQ(text(""), "12 a unary call needs a message");
  EXPECT_EQ(text(good + good), "12 more than one message in a unary call");
  EXPECT_EQ(text(good.substr(0, good.size() - 1)), "13 a message is cut short");
  EXPECT_EQ(text(framed("\xFF\xFF")), "13 cannot read RateLimitRequest");
  EXPECT_EQ(text(framed(std::string(1001, 'x'))), "8 a message of 1001 bytes; the most is 1000");
  EXPECT_EQ(text('\1' + good.substr(1)), "13 a compressed message in a call without grpc-encoding");
  EXPECT_EQ(text('\1' + good.substr(1), {{"grpc-encoding", "deflate"}}),
            "12 grpc-encoding: only gzip is read");
  EXPECT_EQ(text('\1' + good.substr(1), {{"grpc-encoding", "gzip"}}),
            "13 cannot inflate the message");
  EXPECT_EQ(text('\2' + good.substr(1)), "13 a message starts with an unknown flag");
  EXPECT_EQ(text(framed("")), "2 rate limit domain must not be empty");
  EXPECT_EQ(text(good, {{"grpc-timeout", "x"}}), "3 grpc-timeout: x");
  EXPECT_EQ(text(good, {{"grpc-timeout", "0m"}}), "4 grpc-timeout is 0");
  EXPECT_EQ(status_of(call("/a.B/c", good)), "12 there is no method /a.B/c");
  EXPECT_TRUE(server->parts.store.calls.empty());
  EXPECT_EQ(response_of(call(kShouldRateLimit, good)).statuses_size(), 1);
}

TEST_F(Calls, TextsThatAreNotUtf8AreNoMessage) {
  const auto text = [&](const std::string& domain, const grpc_calls::Entry& entry) {
    const auto field = [](char tag, const std::string& bytes) {
      return std::string{tag, static_cast<char>(bytes.size())} + bytes;
    };
    const std::string message =
        field(10, domain) + field(18, field(10, field(10, entry.first) + field(18, entry.second)));
    return status_of(call(kShouldRateLimit, framed(message)));
  };
  const std::string internal = "13 cannot read RateLimitRequest";
  EXPECT_EQ(text("api", {"user", "caf\xC3\xA9"}), "0 ");
  EXPECT_EQ(text("ap\xFF", {"user", "x"}), internal);
  EXPECT_EQ(text("api", {"us\xC0\xAF", "x"}), internal);
  EXPECT_EQ(text("api", {"user", "\xED\xA0\x80"}), internal);
}

TEST_F(Calls, ErrorsAreTrailersOnlyAndSayWhatIsRead) {
  const Answer& answer = call(kShouldRateLimit, framed("\1"));
  EXPECT_TRUE(answer.trailers.empty());
  EXPECT_TRUE(answer.body.empty());
  EXPECT_EQ(answer.field(":status"), "200");
  EXPECT_EQ(answer.field("grpc-accept-encoding"), "identity,gzip");
}

std::string compressed(std::string_view frame) {
  return '\1' + framed(grpc_calls::gzipped(frame.substr(5))).substr(1);
}

TEST_F(Calls, CompressedMessagesAreRead) {
  const http2_client::Fields gzip{{"grpc-encoding", "gzip"}};
  EXPECT_EQ(
      response_of(call(kShouldRateLimit, compressed(ask("z")), gzip)).statuses(0).limit_remaining(),
      2U);
  EXPECT_EQ(response_of(call(kShouldRateLimit, ask("z"), gzip)).statuses(0).limit_remaining(), 1U)
      << "a call that may compress need not";
  server->parts.store.is_late = true;
  const auto stream = client.request(head_of(kShouldRateLimit, gzip), compressed(ask("z")));
  exchange();
  server->parts.store.answer_late();
  exchange();
  EXPECT_EQ(response_of(client.answer(stream)).statuses(0).limit_remaining(), 0U);
}

TEST_F(Calls, AMessageMayNotInflateToMoreThanAMessageMayHave) {
  const std::string small = compressed(framed(std::string(1001, 'x')));
  EXPECT_EQ(status_of(call(kShouldRateLimit, small, {{"grpc-encoding", "gzip"}})),
            "8 a message that inflates to more than 1000 bytes");
  EXPECT_TRUE(server->parts.store.calls.empty());
}

TEST_F(Calls, RequestsThatAreNotGrpcGetAnHttpStatus) {
  auto get = head_of(kShouldRateLimit);
  get[0].second = "GET";
  auto json = head_of(kShouldRateLimit);
  json.back().second = "application/json";
  const auto first = client.request(get, "");
  const auto second = client.request(json, "{}");
  exchange();
  EXPECT_EQ(client.answer(first).field(":status"), "405");
  EXPECT_EQ(client.answer(first).field("allow"), "POST");
  EXPECT_EQ(client.answer(second).field(":status"), "415");
  EXPECT_EQ(server->state.statistics.responses[4], 2U);
}

TEST_F(Calls, DynamicMetadataIsReturnedWhenEnabled) {
  server = std::make_unique<Server>(RateLimiterOptions{.dynamic_metadata = true});
  const auto response = response_of(call(kShouldRateLimit, ask("j")));
  EXPECT_EQ(response.dynamic_metadata().fields().at("domain").string_value(), "api");
}

HealthCheckResponse::ServingStatus health_in(const std::string& message) {
  HealthCheckResponse response;
  EXPECT_TRUE(response.ParseFromString(message));
  return response.status();
}

std::string about(const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  return framed(request.SerializeAsString());
}

TEST_F(Calls, HealthIsThatOfTheServer) {
  for (const std::string service :
       {"", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"}) {
    const auto messages = messages_of(call(kHealthCheck, about(service)).body);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(health_in(messages[0]), HealthCheckResponse::SERVING) << service;
  }
  EXPECT_EQ(status_of(call(kHealthCheck, about("x"))), "5 there is no service \"x\"");
  server->state.stopping = true;
  const auto messages = messages_of(call(kHealthCheck, about("")).body);
  EXPECT_EQ(health_in(messages.at(0)), HealthCheckResponse::NOT_SERVING);
}

TEST_F(Calls, WatchersAreNotifiedWhenTheServerStops) {
  const auto known = client.request(head_of(kHealthWatch), about("ratelimit"));
  const auto unknown = client.request(head_of(kHealthWatch), about("x"));
  exchange();
  EXPECT_EQ(health_in(messages_of(client.answer(unknown).body).at(0)),
            HealthCheckResponse::SERVICE_UNKNOWN);
  EXPECT_FALSE(client.answer(known).is_closed);
  server->state.stopping = true;
  server->session->close_when_idle();
  exchange();
  const auto messages = messages_of(client.answer(known).body);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(health_in(messages[0]), HealthCheckResponse::SERVING);
  EXPECT_EQ(health_in(messages[1]), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(status_of(client.answer(known)), "14 the server stops");
  EXPECT_TRUE(server->session->is_finished());
}

TEST_F(Calls, ADrainingServerSaysSoAndServesOn) {
  const auto watch = client.request(head_of(kHealthWatch), about("ratelimit"));
  exchange();
  server->state.draining = true;
  server->session->drain();
  const auto stream = client.request(head_of(kShouldRateLimit), ask("k"));  // crosses the GOAWAY
  exchange();
  EXPECT_EQ(client.goodbyes.size(), 2U);
  EXPECT_EQ(client.answer(stream).field("grpc-status"), "0");
  const auto messages = messages_of(client.answer(watch).body);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(health_in(messages[1]), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(client.answer(watch).is_closed);
  server->state.stopping = true;
  server->session->close_when_idle();
  exchange();
  EXPECT_EQ(messages_of(client.answer(watch).body).size(), 2U);  // was notified before
  EXPECT_EQ(status_of(client.answer(watch)), "14 the server stops");
  EXPECT_TRUE(server->session->is_finished());
}

TEST_F(Calls, StreamsOfOneConnectionAreBounded) {
  for (int i = 0; i < 16; ++i) client.request(head_of(kHealthWatch), about(""));
  exchange();
  EXPECT_EQ(status_of(call(kHealthWatch, about(""))), "8 too many streams");
  EXPECT_EQ(status_of(call(kShouldRateLimit, ask("k"))), "0 ");
}

TEST_F(Calls, CallsInFlightAreAnsweredWhenTheServerStops) {
  server->parts.store.is_late = true;
  const auto stream = client.request(head_of(kShouldRateLimit), ask("l"));
  exchange();
  server->session->close_when_idle();
  exchange();
  EXPECT_EQ(client.goodbyes.size(), 2U);
  EXPECT_FALSE(server->session->is_finished());
  server->parts.store.answer_late();
  exchange();
  EXPECT_EQ(client.answer(stream).field("grpc-status"), "0");
  EXPECT_TRUE(server->session->is_finished());
}

TEST_F(Calls, ReflectionShowsTheServiceAndItsFiles) {
  using ::grpc::reflection::v1::ServerReflectionRequest;
  using ::grpc::reflection::v1::ServerReflectionResponse;
  const auto stream = client.open(head_of(kReflection));
  const auto tell = [&](const ServerReflectionRequest& request) {
    client.send(stream, framed(request.SerializeAsString()), false);
    exchange();
    ServerReflectionResponse response;
    EXPECT_TRUE(response.ParseFromString(messages_of(client.answer(stream).body).back()));
    return response;
  };
  ServerReflectionRequest request;
  request.set_list_services("");
  EXPECT_EQ(tell(request).list_services_response().service(0).name(),
            "envoy.service.ratelimit.v3.RateLimitService");
  request.set_file_containing_symbol("envoy.service.ratelimit.v3.RateLimitService");
  EXPECT_EQ(tell(request).file_descriptor_response().file_descriptor_proto_size(), 1);
  request.set_file_by_filename("envoy/config/core/v3/base.proto");
  EXPECT_EQ(tell(request).file_descriptor_response().file_descriptor_proto_size(), 1);
  request.set_file_containing_symbol("no.such.Thing");
  EXPECT_EQ(tell(request).error_response().error_code(), 5);
  client.send(stream, "", true);
  exchange();
  EXPECT_EQ(client.answer(stream).field("grpc-status"), "0");
}

// The same calls in any portions are answered the same.
RC_GTEST_PROP(CallsInPortions, AnySplitIsAnsweredTheSame, ()) {
  const auto bodies = *rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
      rc::gen::just(Calls::ask("a")), rc::gen::just(Calls::ask("b")), rc::gen::just(framed("\1")),
      rc::gen::just(std::string()), rc::gen::string<std::string>()));
  const auto portions =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40));
  const auto answers = [&](bool whole) {
    Server server;
    ClientSession client;
    for (const std::string& body : bodies) client.request(head_of(kShouldRateLimit), body);
    const std::string bytes = client.take_output();
    std::string_view rest = bytes;
    for (std::size_t i = 0; !rest.empty(); ++i) {
      const std::size_t size =
          whole || i >= portions.size() ? rest.size() : std::min(portions[i], rest.size());
      RC_ASSERT(server.session->receive(rest.substr(0, size), server.now));
      rest.remove_prefix(size);
      client.receive(server.session->take_output());
    }
    std::string all;
    for (const auto& [stream, answer] : client.answers) {
      all += std::to_string(stream) + answer.field("grpc-status") + answer.field("grpc-message") +
             answer.body;
    }
    return all;
  };
  RC_ASSERT(answers(true) == answers(false));
}

}  // namespace
}  // namespace penstock::wire::grpc
