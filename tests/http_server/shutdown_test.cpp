#include "http_server/client.hpp"
#include "http_server/running_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace penstock::http_server {
namespace {

using namespace std::chrono_literals;

bool is_done(const std::future<void>& stopped) {
  return stopped.wait_for(0s) == std::future_status::ready;
}

TEST(HttpServerShutdown, ClosesIdleConnectionsAtOnce) {
  RunningServer server;
  Client served(server.port());
  EXPECT_EQ(served.ask("/").status, 200U);
  const std::future<void> stopped = server.stop(1h);
  EXPECT_TRUE(served.is_closed());
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
  EXPECT_THROW(Client late(server.port()), std::system_error);
}

// Its request may be in transit.
TEST(HttpServerShutdown, AnswersTheFirstRequestOfANewConnection) {
  http::ServerOptions options;
  options.linger = 1min;
  RunningServer server(options);
  Client accepted(server.port());
  servers::wait_until("it", [&] { return server.statistics().open == 1; });
  std::future<void> stopped = server.stop(1h);
  EXPECT_FALSE(is_done(stopped));
  const Answer answer = accepted.ask("/");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_TRUE(answer.has("Connection: close"));
  accepted.half_close();
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

TEST(HttpServerShutdown, ClosesAConnectionThatSendsNoRequest) {
  RunningServer server(short_timeouts());
  Client silent(server.port());
  servers::wait_until("it", [&] { return server.statistics().open == 1; });
  const std::future<void> stopped = server.stop(1h);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

TEST(HttpServerShutdown, ADrainingServerAcceptsAndSendsConnectionClose) {
  RunningServer server;
  Client before(server.port());
  EXPECT_FALSE(before.ask("/").has("Connection: close"));
  server.call([&] { server.server().drain(); });
  EXPECT_TRUE(before.ask("/").has("Connection: close"));
  Client after(server.port());
  EXPECT_TRUE(after.ask("/").has("Connection: close"));
}

TEST(HttpServerShutdown, StopsAtOnceWithoutConnections) {
  RunningServer server;
  EXPECT_EQ(server.stop(1h).wait_for(servers::kTestTimeout), std::future_status::ready);
}

TEST(HttpServerShutdown, FinishesRequestsInFlight) {
  RunningServer server;
  Client half(server.port());
  half.send("GET /half HTTP/1.1\r\n");
  Client later(server.port());
  later.get("/later");
  servers::wait_until("both", [&] {
    return server.echo.waiting() == 1 && server.statistics().bytes_in >= 20 + 32;
  });
  const std::future<void> stopped = server.stop(1h);
  EXPECT_FALSE(is_done(stopped));
  server.call([&] { server.echo.answer_all(); });
  half.send("Host: x\r\n\r\n");
  for (Client* client : {&half, &later}) {
    const Answer answer = client->read();
    EXPECT_EQ(answer.status, 200U);
    EXPECT_TRUE(answer.has("Connection: close"));
    EXPECT_TRUE(client->is_closed());
  }
  half.half_close();
  later.half_close();
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

TEST(HttpServerShutdown, AbortsConnectionsAfterTheGracePeriod) {
  RunningServer server(short_timeouts());
  Client client(server.port());
  client.get("/later");
  servers::wait_until("the request", [&] { return server.echo.waiting() == 1; });
  const std::future<void> stopped = server.stop(50ms);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
  server.call([&] { server.echo.answer_all(); });
}

// Every request is answered, or its connection was idle and is closed: no response is truncated,
// and none is lost after the server announced keep-alive.
TEST(HttpServerShutdown, LosesNoAnswerUnderLoad) {
  RunningServer server;
  std::atomic<int> answered = 0;
  std::atomic<int> broken = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      Client client(server.port());
      for (bool closing = false; !closing;) {
        try {
          const Answer answer = client.ask("/");
          closing = answer.status == 0 || answer.has("Connection: close");
          if (answer.status == 200) ++answered;
        } catch (const std::system_error&) {
          closing = true;  // closed while idle
        } catch (const std::exception&) {
          ++broken;
          closing = true;
        }
      }
    });
  }
  servers::wait_until("some load", [&] { return answered > 2'000; });
  const std::future<void> stopped = server.stop(10s);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(server.statistics().responses.at(2), static_cast<std::uint64_t>(answered));
}

}  // namespace
}  // namespace penstock::http_server
