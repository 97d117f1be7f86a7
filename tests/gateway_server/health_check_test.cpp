#include "gateway/upstream/upstream.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace penstock::gateway {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;

// As a reload does with an upstream that it replaces.
TEST(HealthCheck, EndsWhenTheUpstreamIsClosedWhileTheServerHangs) {
  boost::asio::io_context loop;
  tcp::acceptor acceptor(loop, {boost::asio::ip::address_v4::loopback(), 0});
  tcp::socket hanging(loop);
  bool has_request = false;
  acceptor.async_accept(hanging, [&](const boost::system::error_code& failed) {
    if (failed) return;
    hanging.async_wait(tcp::socket::wait_read,
                       [&](const boost::system::error_code&) { has_request = true; });
  });
  rules::UpstreamSettings settings{
      .name = "app",
      .servers = {{.host = "127.0.0.1", .port = acceptor.local_endpoint().port()}},
      .health = {.path = "/health", .timeout = 1h}};
  auto upstream = std::make_shared<Upstream>(loop.get_executor(), settings, 4096);
  upstream->start_checks();
  while (!has_request) loop.run_one_for(10s);
  upstream->close();
  const std::weak_ptr<Upstream> closed = std::exchange(upstream, nullptr);
  loop.run_for(10s);  // returns when nothing is left to do
  EXPECT_TRUE(closed.expired());
}

}  // namespace
}  // namespace penstock::gateway
