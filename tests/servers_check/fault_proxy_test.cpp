#include "servers/fault_proxy.hpp"

#include "base/monotonic_time.hpp"
#include "servers/redis_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>

namespace penstock::servers {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::string_view kPing = "PING\r\n";
constexpr std::string_view kPong = "+PONG\r\n";

class FaultProxyTest : public testing::Test {
 protected:
  [[nodiscard]] Session session() const { return Session(connect_to(proxy.port())); }

  RedisServer server;
  FaultProxy proxy{server.port()};
};

void send_ping(const FileDescriptor& socket) {
  ASSERT_EQ(::send(socket.number(), kPing.data(), kPing.size(), 0), std::ssize(kPing));
}

bool has_something_to_read(const FileDescriptor& socket, milliseconds wait) {
  pollfd wanted{socket.number(), POLLIN, 0};
  return ::poll(&wanted, 1, static_cast<int>(wait.count())) == 1;
}

// Reads until this many bytes or the end. The error is an errno value.
struct Received {
  std::string bytes{};
  int error = 0;
};
Received receive(const FileDescriptor& socket, std::size_t size) {
  Received received;
  while (received.bytes.size() < size && has_something_to_read(socket, kTestTimeout)) {
    std::array<char, 1024> buffer{};
    const ssize_t got = ::recv(socket.number(), buffer.data(),
                               std::min(buffer.size(), size - received.bytes.size()), 0);
    if (got <= 0) {
      received.error = got < 0 ? errno : 0;
      break;
    }
    received.bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return received;
}

TEST_F(FaultProxyTest, ForwardsAndCountsBytes) {
  const std::string large(5'000'000, 'x');
  Session one = session();
  Session two = session();
  EXPECT_EQ(one.command({"SET", "a", large}).text, "OK");
  EXPECT_EQ(two.command({"GET", "a"}).text, large);
  const FaultProxy::Counts counts = proxy.counts();
  EXPECT_EQ(counts.accepted, 2U);
  EXPECT_EQ(counts.open, 2U);
  EXPECT_GT(counts.request_bytes, large.size());
  EXPECT_GT(counts.reply_bytes, large.size());
}

TEST_F(FaultProxyTest, ForwardsAClientsClose) {
  { EXPECT_EQ(session().command({"PING"}).text, "PONG"); }
  wait_until("the connection to end", [&] { return proxy.counts().open == 0; });
}

TEST_F(FaultProxyTest, DelaysBothDirections) {
  Session delayed = session();
  EXPECT_EQ(delayed.command({"PING"}).text, "PONG");
  proxy.delay(Direction::Requests, milliseconds{20});
  proxy.delay(Direction::Replies, milliseconds{30});
  const auto start = base::monotonic_now();
  EXPECT_EQ(delayed.command({"PING"}).text, "PONG");
  EXPECT_GE(base::monotonic_now() - start, milliseconds{49});
}

TEST_F(FaultProxyTest, ForwardsSmallPieces) {
  Session sliced = session();
  proxy.slice(7, milliseconds{1});
  const std::string text(70, 'x');
  const auto start = base::monotonic_now();
  EXPECT_EQ(sliced.command({"ECHO", text}).text, text);
  // At least ten pieces each way; the gap after the last one delays nothing.
  EXPECT_GE(base::monotonic_now() - start, milliseconds{17});
}

TEST_F(FaultProxyTest, CutsOnceAtAnyByte) {
  for (std::size_t n = 0; n < kPong.size(); ++n) {
    const FileDescriptor socket = connect_to(proxy.port());
    proxy.cut_after(n);
    send_ping(socket);
    EXPECT_EQ(receive(socket, kPong.size()).bytes, kPong.substr(0, n));
    EXPECT_EQ(session().command({"PING"}).text, "PONG");
  }
}

TEST_F(FaultProxyTest, StallsUntilPass) {
  const FileDescriptor before = connect_to(proxy.port());
  proxy.stall();
  const FileDescriptor after = connect_to(proxy.port());
  send_ping(before);
  send_ping(after);
  EXPECT_FALSE(has_something_to_read(before, milliseconds{30}));
  EXPECT_FALSE(has_something_to_read(after, milliseconds{1}));
  EXPECT_EQ(proxy.counts().request_bytes, 0U);
  proxy.pass();
  EXPECT_EQ(receive(before, kPong.size()).bytes, kPong);
  EXPECT_EQ(receive(after, kPong.size()).bytes, kPong);
}

TEST_F(FaultProxyTest, ClosesItsPort) {
  Session open = session();
  EXPECT_EQ(open.command({"PING"}).text, "PONG");
  proxy.close_port();
  try {
    const FileDescriptor socket = connect_to(proxy.port());
    FAIL();
  } catch (const std::system_error& failure) {
    EXPECT_EQ(failure.code().value(), ECONNREFUSED);
  }
  EXPECT_EQ(open.command({"PING"}).text, "PONG");
  proxy.pass();
  EXPECT_EQ(session().command({"PING"}).text, "PONG");
}

TEST_F(FaultProxyTest, FlipsBytesOfReplies) {
  const FileDescriptor socket = connect_to(proxy.port());
  proxy.corrupt(3);
  send_ping(socket);
  std::string expected(kPong);
  expected[2] = static_cast<char>(~expected[2]);
  expected[5] = static_cast<char>(~expected[5]);
  EXPECT_EQ(receive(socket, kPong.size()).bytes, expected);
  proxy.pass();
  send_ping(socket);
  EXPECT_EQ(receive(socket, kPong.size()).bytes, kPong);
}

TEST_F(FaultProxyTest, EndsConnectionsBothWays) {
  const FileDescriptor socket = connect_to(proxy.port());
  wait_until("the connection", [&] { return proxy.counts().open == 1; });
  proxy.reset();
  EXPECT_EQ(receive(socket, 1).error, ECONNRESET);

  const FileDescriptor other = connect_to(proxy.port());
  wait_until("the connection", [&] { return proxy.counts().open == 1; });
  proxy.close();
  EXPECT_EQ(receive(other, 1).error, 0);
  EXPECT_EQ(proxy.counts().open, 0U);
}

TEST_F(FaultProxyTest, ClosesConnectionsWhileTheServerIsDown) {
  const FileDescriptor open = connect_to(proxy.port());
  send_ping(open);
  EXPECT_EQ(receive(open, kPong.size()).bytes, kPong);
  server.kill();
  EXPECT_EQ(receive(open, 1).bytes, "");
  EXPECT_EQ(receive(connect_to(proxy.port()), 1).bytes, "");
  server.restart();
  EXPECT_EQ(session().command({"PING"}).text, "PONG");
}

TEST_F(FaultProxyTest, CanBeDestroyedDuringTransfers) {
  const FileDescriptor socket = [&] {
    FaultProxy stopping(server.port());
    stopping.delay(Direction::Requests, std::chrono::hours{1});
    FileDescriptor connected = connect_to(stopping.port());
    send_ping(connected);
    return connected;
  }();
  EXPECT_EQ(receive(socket, 1).bytes, "");
}

}  // namespace
}  // namespace penstock::servers
