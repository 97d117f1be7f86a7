#include "http_server/client.hpp"
#include "http_server/running_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace penstock::http_server {
namespace {

using net::Phase;

std::uint64_t timeouts(RunningServer& server, Phase phase) {
  return server.statistics().timeouts.at(static_cast<std::size_t>(phase));
}

TEST(HttpServerLimits, AbortASlowHeaderWhileOthersAreServed) {
  http::ServerOptions options = short_timeouts();
  options.http.idle_timeout = std::chrono::minutes{1};
  RunningServer server(options);
  Client slow(server.port());
  Client quick(server.port());
  slow.send("GET / HTTP/1.1\r\nX: ");
  servers::wait_until("the slow one to be cut", [&] {
    static_cast<void>(slow.send_some("x"));
    EXPECT_EQ(quick.ask("/").status, 200U);
    return !slow.is_quiet();
  });
  EXPECT_EQ(slow.read().status, 408U);
  EXPECT_TRUE(slow.is_closed());
  EXPECT_EQ(timeouts(server, Phase::Header), 1U);
  EXPECT_EQ(quick.ask("/").status, 200U);
}

TEST(HttpServerLimits, AbortASlowBody) {
  RunningServer server(short_timeouts());
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  servers::wait_until("the slow one to be cut", [&] {
    static_cast<void>(client.send_some("x"));
    return !client.is_quiet();
  });
  EXPECT_EQ(client.read().status, 408U);
  EXPECT_EQ(timeouts(server, Phase::Body), 1U);
}

TEST(HttpServerLimits, CloseIdleConnections) {
  RunningServer server(short_timeouts());
  Client silent(server.port());
  Client served(server.port());
  EXPECT_EQ(served.ask("/").status, 200U);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(served.is_closed());
  EXPECT_EQ(timeouts(server, Phase::Idle), 2U);
  EXPECT_EQ(server.statistics().open, 0U);
}

TEST(HttpServerLimits, AbortAClientThatDoesNotReadItsAnswers) {
  RunningServer server(short_timeouts());
  server.call([&] { server.echo.large.assign(50'000'000, 'l'); });
  Client client(server.port());
  client.get("/large");
  servers::wait_until("the slow reader to be cut",
                      [&] { return timeouts(server, Phase::Write) == 1; });
  EXPECT_EQ(server.statistics().open, 0U);
}

TEST(HttpServerLimits, SendALargeAnswerCompletely) {
  RunningServer server;
  server.call([&] { server.echo.large.assign(20'000'000, 'l'); });
  Client client(server.port());
  EXPECT_EQ(client.ask("/large").body.size(), 20'000'000U);
  EXPECT_EQ(client.ask("/small").status, 200U);
}

TEST(HttpServerLimits, CloseAClientThatStaysAfterTheLastAnswer) {
  RunningServer server(short_timeouts());
  Client client(server.port());
  EXPECT_EQ(client.ask("/", "Connection: close\r\n").status, 200U);
  servers::wait_until("the connection to be closed", [&] { return server.statistics().open == 0; });
}

TEST(HttpServerLimits, AnswerAConnectionOverTheLimitWith503AndServeTheOthers) {
  http::ServerOptions options;
  options.http.max_connections = 3;
  RunningServer server(options);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    EXPECT_EQ(clients.back()->ask("/").status, 200U);
  }
  {
    Client rejected(server.port());
    rejected.get("/");
    const Answer answer = rejected.read();
    EXPECT_EQ(answer.status, 503U);
    EXPECT_TRUE(answer.has("Connection: close"));
    EXPECT_TRUE(rejected.is_closed());
  }
  EXPECT_EQ(server.statistics().rejected, 1U);
  EXPECT_EQ(clients[0]->ask("/").status, 200U);
  clients.pop_back();
  servers::wait_until("a place", [&] { return server.statistics().open == 2; });
  Client next(server.port());
  EXPECT_EQ(next.ask("/").status, 200U);
}

TEST(HttpServerLimits, BoundTheRejectionsInFlight) {
  http::ServerOptions options;
  options.http.max_connections = 1;
  RunningServer server(options);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  servers::wait_until("all rejections", [&] { return server.statistics().rejected == 299; });
  EXPECT_LE(server.statistics().open, 1U + 128U);
}

TEST(HttpServerLimits, ServeOthersBesideTwoThousandIdleConnections) {
  RunningServer server;
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 2'000; ++i) idle.push_back(std::make_unique<Client>(server.port()));
  servers::wait_until("all to be accepted", [&] { return server.statistics().open == 2'000; });
  Client client(server.port());
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(client.ask("/").status, 200U);
  for (const auto& one : idle) EXPECT_TRUE(one->is_quiet());
  EXPECT_EQ(idle.back()->ask("/").status, 200U);
}

}  // namespace
}  // namespace penstock::http_server
