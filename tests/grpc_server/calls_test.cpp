#include "grpc_server/connection.hpp"
#include "grpc_server/running_server.hpp"
#include "servers/wait.hpp"

#include <grpc/health/v1/health.pb.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::grpc_server {
namespace {

using grpc_calls::framed;
using grpc_calls::head_of;
using grpc_calls::kHealthWatch;
using grpc_calls::kShouldRateLimit;
using grpc_calls::messages_of;
using grpc_calls::request_of;
using grpc_calls::response_of;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string ask(const std::string& user) {
  return framed(request_of("api", {{{"user", user}}}).SerializeAsString());
}

TEST(GrpcServer, AnswersAThousandCallsOnOneConnection) {
  RunningServer server;
  PlainConnection client(server.port());
  ASSERT_EQ(client.call(kShouldRateLimit, ask("first")).field("grpc-status"), "0");
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 1000; ++i) {
    streams.push_back(client.session().request(head_of(kShouldRateLimit), ask("a")));
  }
  ASSERT_TRUE(client.wait([&] { return client.session().answer(streams.back()).is_closed; }));
  std::vector<bool> seen(1000, false);
  for (const auto stream : streams) {
    const auto response = response_of(client.session().answer(stream));
    const auto used = 1'000'000 - response.statuses(0).limit_remaining();
    ASSERT_LE(used, 1000U);
    seen.at(used - 1) = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 1000);
  EXPECT_EQ(server.statistics().responses[2], 1001U);
}

TEST(GrpcServer, LateAnswersComeWithoutAnotherRequest) {
  RunningServer server;
  PlainConnection client(server.port());
  server.call([&] { server.parts.store.is_late = true; });
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 10; ++i) {
    streams.push_back(client.session().request(head_of(kShouldRateLimit), ask("a")));
  }
  client.send(client.session().take_output());
  servers::wait_until("the server has seen it", [&] { return server.statistics().requests == 10; });
  server.call([&] { server.parts.store.answer_late(); });
  ASSERT_TRUE(client.wait([&] { return client.session().answer(streams.back()).is_closed; }));
  for (const auto stream : streams) {
    EXPECT_EQ(client.session().answer(stream).field("grpc-status"), "0");
  }
}

TEST(GrpcServer, ClientsThatDisconnectBeforeTheirAnswerAreForgotten) {
  RunningServer server;
  server.call([&] { server.parts.store.is_late = true; });
  {
    PlainConnection client(server.port());
    const auto cancelled = client.session().request(head_of(kShouldRateLimit), ask("a"));
    client.session().request(head_of(kShouldRateLimit), ask("a"));
    client.send(client.session().take_output());
    servers::wait_until("the server has seen it",
                        [&] { return server.statistics().requests == 2; });
    client.session().reset(cancelled);
    client.send(client.session().take_output());
  }
  servers::wait_until("the server has seen it", [&] { return server.statistics().open == 0; });
  server.call([&] { server.parts.store.answer_late(); });
  PlainConnection client(server.port());
  server.call([&] { server.parts.store.is_late = false; });
  EXPECT_EQ(client.call(kShouldRateLimit, ask("a")).field("grpc-status"), "0");
}

TEST(GrpcServer, ConnectionsThatAreNotHttp2AreClosed) {
  RunningServer server;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::string(100, 'x'),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(200, '\xFF')}) {
    PlainConnection client(server.port());
    client.send(bytes);
    EXPECT_TRUE(client.wait_for_close());
  }
  PlainConnection client(server.port());
  EXPECT_EQ(client.call(kShouldRateLimit, ask("a")).field("grpc-status"), "0");
}

TEST(GrpcServer, SlowClientsAreDisconnected) {
  RunningServer server(short_timeouts());
  PlainConnection silent(server.port());
  EXPECT_TRUE(silent.wait_for_close());

  PlainConnection idle(server.port());
  EXPECT_EQ(idle.call(kShouldRateLimit, ask("a")).field("grpc-status"), "0");
  EXPECT_TRUE(idle.wait_for_close());
  EXPECT_FALSE(idle.session().goodbyes.empty());

  PlainConnection slow(server.port());
  const auto stream = slow.session().open(head_of(kShouldRateLimit));
  slow.session().send(stream, ask("a").substr(0, 6), false);
  ASSERT_TRUE(slow.wait([&] { return slow.session().answer(stream).is_closed; }));
  EXPECT_EQ(slow.session().answer(stream).field("grpc-status"), "4");
}

TEST(GrpcServer, WatchersThatAnswerPingsStay) {
  RunningServer server(short_timeouts());
  PlainConnection client(server.port());
  const auto stream = client.session().request(head_of(kHealthWatch), framed(""));
  ASSERT_TRUE(client.wait([&] { return !client.session().last_ping.empty(); }));
  client.session().last_ping.clear();
  ASSERT_TRUE(client.wait([&] { return !client.session().last_ping.empty(); }));
  EXPECT_FALSE(client.session().answer(stream).is_closed);
}

TEST(GrpcServer, StopsWhenCallsInFlightAreAnswered) {
  RunningServer server;
  PlainConnection client(server.port());
  PlainConnection idle(server.port());
  ASSERT_EQ(idle.call(kShouldRateLimit, ask("a")).field("grpc-status"), "0");
  const auto watch = idle.session().request(head_of(kHealthWatch), framed(""));
  ASSERT_TRUE(idle.wait([&] { return !idle.session().answer(watch).body.empty(); }));
  server.call([&] { server.parts.store.is_late = true; });
  const auto stream = client.session().request(head_of(kShouldRateLimit), ask("a"));
  client.send(client.session().take_output());
  servers::wait_until("the server has seen it", [&] { return server.statistics().requests == 3; });
  std::future<void> stopped = server.stop(seconds{30});
  EXPECT_TRUE(idle.wait_for_close());
  EXPECT_EQ(messages_of(idle.session().answer(watch).body).size(), 2U);
  EXPECT_EQ(idle.session().answer(watch).field("grpc-status"), "14");
  ASSERT_TRUE(client.wait([&] { return client.session().goodbyes.size() == 2; }));
  server.call([&] { server.parts.store.answer_late(); });
  EXPECT_TRUE(client.wait_for_close());
  EXPECT_EQ(client.session().answer(stream).field("grpc-status"), "0");
  EXPECT_EQ(stopped.wait_for(seconds{20}), std::future_status::ready);
}

TEST(GrpcServer, AbortsConnectionsAfterTheGracePeriod) {
  RunningServer server;
  PlainConnection client(server.port());
  server.call([&] { server.parts.store.is_late = true; });
  client.session().request(head_of(kShouldRateLimit), ask("a"));
  client.send(client.session().take_output());
  servers::wait_until("the server has seen it", [&] { return server.statistics().requests == 1; });
  std::future<void> stopped = server.stop(milliseconds{100});
  EXPECT_EQ(stopped.wait_for(seconds{20}), std::future_status::ready);
  EXPECT_TRUE(client.wait_for_close());
}

TEST(GrpcServer, AConnectionOverTheLimitReceivesGoaway) {
  wire::grpc::ServerOptions options;
  options.grpc.max_connections = 1;
  RunningServer server(options);
  PlainConnection first(server.port());
  ASSERT_EQ(first.call(kShouldRateLimit, ask("a")).field("grpc-status"), "0");
  PlainConnection second(server.port());
  EXPECT_TRUE(second.wait_for_close());
  EXPECT_FALSE(second.session().goodbyes.empty());
  EXPECT_EQ(server.statistics().rejected, 1U);
}

}  // namespace
}  // namespace penstock::grpc_server
