#include "wire/resp/server.hpp"

#include "net/server_connection.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/basic_resolver.hpp>

#include <algorithm>
#include <utility>

namespace penstock::wire::resp {
namespace {

using boost::system::error_code;
using net::Phase;

constexpr std::string_view kTooManyConnections = "ERR max number of clients reached";

void on_accept(const std::shared_ptr<ServerContext>& context,
               net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Session>(*context, std::move(accepted.peer.address));
  if (accepted.too_many) session->reject(kTooManyConnections);
  net::start_connection(context, std::move(session), std::move(accepted));
}

// Whether all addresses of this name are of this machine. A name without an address is reported
// when the server tries to listen on it.
bool is_loopback(const net::Address& address) {
  error_code failed;
  const auto numeric = boost::asio::ip::make_address(address.host, failed);
  if (!failed) return numeric.is_loopback();
  boost::asio::io_context loop;
  boost::asio::ip::basic_resolver<net::Tcp, net::Executor> resolver(loop.get_executor());
  const auto found = resolver.resolve(address.host, std::to_string(address.port), failed);
  return std::all_of(found.begin(), found.end(),
                     [](const auto& entry) { return entry.endpoint().address().is_loopback(); });
}

}  // namespace

Result<void> require_password(const rules::RespSettings& settings) {
  if (!settings.passwords.empty()) return {};
  for (const net::Address& address : settings.listen) {
    if (is_loopback(address)) continue;
    return Error{ErrorCode::Misconfigured,
                 "resp.listen " + address.host + ":" + std::to_string(address.port) +
                     ": other machines can connect, and the configuration has no resp.password"};
  }
  return {};
}

void ServerOptions::use(const rules::Settings& settings) {
  resp = settings.resp;
  on_failure = settings.request_limits.on_failure;
}

net::AcceptorOptions ServerOptions::acceptor_options() const {
  return {.max_connections = resp.max_connections,
          .shared = shared,
          .tls = resp.tls,
          .protocols = {},
          .tick = tick};
}

Result<void> ServerOptions::apply_to(ServerContext& context) const {
  if (context.is_exposed && resp.passwords.empty()) {
    return Error{ErrorCode::Misconfigured,
                 "password: other machines can connect, so there must be one"};
  }
  context.settings = {.limits = {.bytes = resp.max_request_bytes},
                      .passwords = resp.passwords,
                      .version = version,
                      .on_failure = on_failure,
                      .request_timeout = request_timeout};
  context.timeouts.set_limits(net::phase_limits({{Phase::Handshake, handshake_timeout},
                                                 {Phase::Idle, resp.idle_timeout},
                                                 {Phase::Header, command_timeout},
                                                 {Phase::Write, write_timeout},
                                                 {Phase::Linger, linger}}));
  return {};
}

Server::Server(boost::asio::io_context& loop, service::Service& service,
               const ServerOptions& options)
    : SocketListener(loop, std::make_shared<ServerContext>(service), options, on_accept) {}

Result<std::vector<net::Address>> Server::listen(const std::vector<net::Address>& addresses,
                                                 net::PortReuse port_reuse) {
  const Result<void> open = require_password({.listen = addresses});
  state()->is_exposed = !open;
  if (state()->is_exposed && state()->settings.passwords.empty()) return open.error();
  return SocketListener::listen(addresses, port_reuse);
}

}  // namespace penstock::wire::resp
