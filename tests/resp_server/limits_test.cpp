#include "resp_server/client.hpp"
#include "resp_server/running_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace penstock::resp_server {
namespace {

using namespace std::chrono_literals;

TEST(RespLimits, CommandsMayArriveByteByByte) {
  RunningServer server;
  Client client(server.port());
  for (const char byte : std::string_view("*2\r\n$4\r\nECHO\r\n$3\r\nabc\r\n")) {
    client.send({&byte, 1});
  }
  EXPECT_EQ(client.read(9), "$3\r\nabc\r\n");
}

TEST(RespLimits, HugeLengthsAreRejectedAndTheConnectionClosed) {
  RunningServer server;
  for (const char* bytes : {"*1\r\n$999999999999\r\n", "*1\r\n$1048577\r\n"}) {
    Client client(server.port());
    client.send(bytes);
    EXPECT_EQ(client.read_to_end(), "-ERR Protocol error: invalid bulk length\r\n");
  }
  Client client(server.port());
  client.send("PING\r\n*999999999\r\n");
  EXPECT_EQ(client.read_to_end(), "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n");
}

// A client that keeps sending can still read the error.
TEST(RespLimits, ErrorsReachClientsThatStillSend) {
  RunningServer server(short_timeouts());
  Client client(server.port());
  client.send("*1\r\n$x\r\n" + std::string(100'000, 'x'));
  EXPECT_EQ(client.read_to_end(), "-ERR Protocol error: invalid bulk length\r\n");
}

TEST(RespLimits, IdleAndSlowClientsAreClosed) {
  RunningServer server(short_timeouts());
  Client idle(server.port());
  Client slow(server.port());
  slow.send("*2\r\n$4\r\nEC");
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(slow.read_to_end(), "");
  const net::Statistics counted = server.statistics();
  EXPECT_EQ(counted.timeouts[static_cast<std::size_t>(net::Phase::Idle)], 1U);
  EXPECT_EQ(counted.timeouts[static_cast<std::size_t>(net::Phase::Header)], 1U);
}

// A client that does not read replies is no longer read from, and then disconnected.
TEST(RespLimits, ClientsThatDoNotReadRepliesAreDisconnected) {
  RunningServer server(short_timeouts());
  Client client(server.port());
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$50000\r\n" + std::string(50'000, 'x') + "\r\n";
  servers::wait_until("the end", [&] {
    static_cast<void>(client.send_some(echo));
    const net::Statistics counted = server.statistics();
    return counted.accepted == 1 && counted.open == 0;
  });
  EXPECT_EQ(server.statistics().timeouts[static_cast<std::size_t>(net::Phase::Write)], 1U);
}

TEST(RespLimits, LongPipelinesOfLongRepliesAreAllAnswered) {
  RunningServer server;
  Client client(server.port());
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$50000\r\n" + std::string(50'000, 'x') + "\r\n";
  const std::string reply = "$50000\r\n" + std::string(50'000, 'x') + "\r\n";
  std::thread sender([&] {
    for (int i = 0; i < 400; ++i) client.send(echo);
  });
  for (int i = 0; i < 400; ++i) EXPECT_EQ(client.read(reply.size()), reply);
  sender.join();
}

TEST(RespLimits, AConnectionOverTheLimitGetsAnError) {
  wire::resp::ServerOptions options;
  options.resp.max_connections = 1;
  RunningServer server(options);
  Client first(server.port());
  first.send("PING\r\n");
  EXPECT_EQ(first.read(7), "+PONG\r\n");
  Client second(server.port());
  EXPECT_EQ(second.read_to_end(), "-ERR max number of clients reached\r\n");
}

TEST(RespListen, FailsOnPublicAddressesWithoutAPassword) {
  const RunningServer open({}, {.host = "0.0.0.0", .port = 0});
  EXPECT_NE(open.failure().find("0.0.0.0:0"), std::string::npos) << open.failure();
  EXPECT_NE(open.failure().find("resp.password"), std::string::npos) << open.failure();
  const RunningServer local({}, {.host = "localhost", .port = 0});
  EXPECT_EQ(local.failure(), "");
  wire::resp::ServerOptions options;
  options.resp.passwords = {"sesame"};
  const RunningServer guarded(options, {.host = "0.0.0.0", .port = 0});
  EXPECT_EQ(guarded.failure(), "");
}

TEST(RespShutdown, ClosesIdleConnectionsAtOnce) {
  RunningServer server;
  Client idle(server.port());
  idle.send("PING\r\n");
  EXPECT_EQ(idle.read(7), "+PONG\r\n");
  const std::future<void> stopped = server.stop(1h);
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

// Its command may be in transit.
TEST(RespShutdown, AnswersTheFirstCommandOfANewConnection) {
  wire::resp::ServerOptions options;
  options.linger = std::chrono::minutes{1};
  RunningServer server(options);
  Client fresh(server.port());
  servers::wait_until("it", [&] { return server.statistics().open == 1; });
  const std::future<void> stopped = server.stop(1h);
  fresh.send("PING\r\n");
  EXPECT_EQ(fresh.read_to_end(), "+PONG\r\n");
}

TEST(RespShutdown, AnswersCommandsInFlight) {
  RunningServer server;
  server.set_late(true);
  Client late(server.port());
  late.send("INCR visits\r\n");
  Client half(server.port());
  half.send("PI");
  servers::wait_until("both",
                      [&] { return server.waiting() == 1 && server.statistics().bytes_in >= 15; });
  const std::future<void> stopped = server.stop(1h);
  EXPECT_EQ(stopped.wait_for(0s), std::future_status::timeout);
  server.answer_all();
  half.send("NG\r\n");
  EXPECT_EQ(late.read_to_end(), ":1\r\n");
  EXPECT_EQ(half.read(7), "+PONG\r\n");
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

TEST(RespShutdown, AbortsConnectionsAfterTheGracePeriod) {
  RunningServer server(short_timeouts());
  server.set_late(true);
  Client late(server.port());
  late.send("INCR visits\r\n");
  servers::wait_until("the command", [&] { return server.waiting() == 1; });
  const std::future<void> stopped = server.stop(50ms);
  EXPECT_EQ(late.read_to_end(), "");
  EXPECT_EQ(stopped.wait_for(servers::kTestTimeout), std::future_status::ready);
}

}  // namespace
}  // namespace penstock::resp_server
