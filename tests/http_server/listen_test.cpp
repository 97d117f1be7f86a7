#include "http_server/client.hpp"
#include "http_server/running_server.hpp"
#include "servers/loopback.hpp"
#include "servers/wait.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <string>

namespace penstock::http_server {
namespace {

using net::PortReuse;

TEST(HttpServerListen, NamesTheAddressThatIsInUse) {
  const servers::ReservedPort port;
  const servers::FileDescriptor listening = servers::listen_on(port);
  const RunningServer server({}, {.host = "127.0.0.1", .port = port.number()});
  EXPECT_EQ(server.failure(), "cannot listen on 127.0.0.1:" + std::to_string(port.number()) +
                                  ": Address already in use");
}

TEST(HttpServerListen, DoesNotShareAnAddressWithAnotherProcess) {
  RunningServer first;
  const RunningServer second({}, first.address());
  EXPECT_NE(second.failure().find("Address already in use"), std::string::npos);
}

TEST(HttpServerListen, NamesAHostThatIsNotLocal) {
  const RunningServer unknown({}, {.host = "no-such-host.invalid", .port = 8080});
  EXPECT_NE(unknown.failure().find("no-such-host.invalid:8080"), std::string::npos);
  const RunningServer foreign({}, {.host = "192.0.2.1", .port = 8080});
  EXPECT_NE(foreign.failure().find("192.0.2.1:8080"), std::string::npos) << foreign.failure();
}

TEST(HttpServerListen, WorkersShareAnAddress) {
  RunningServer first;
  boost::asio::io_context loop(1);
  Echo echo;
  http::Server second(loop, echo, {});
  const auto bound = second.listen({first.address()}, PortReuse::Shared);
  ASSERT_TRUE(bound) << bound.error().detail;
  EXPECT_EQ(bound->front().port, first.port());
  // The kernel distributes the connections.
  std::vector<std::unique_ptr<Client>> clients;
  while (second.statistics().accepted == 0 || first.statistics().accepted == 0) {
    clients.push_back(std::make_unique<Client>(first.port()));
    loop.poll();
    ASSERT_LT(clients.size(), 1'000U);
  }
}

TEST(HttpServerListen, ListensOnIpv6) {
  RunningServer server({}, {.host = "::1", .port = 0});
  if (!server.failure().empty()) {  // a machine without IPv6
    EXPECT_NE(server.failure().find("cannot listen on [::1]:0"), std::string::npos);
    return;
  }
  using Tcp = boost::asio::ip::tcp;
  boost::asio::io_context io;
  Tcp::socket socket(io);
  socket.connect({boost::asio::ip::address_v6::loopback(), server.port()});
  boost::asio::write(socket, boost::asio::buffer(std::string("GET / HTTP/1.0\r\n\r\n")));
  std::string answer;
  boost::system::error_code end;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), end);
  EXPECT_NE(answer.find("GET / ::1{}"), std::string::npos) << answer;
}

}  // namespace
}  // namespace penstock::http_server
