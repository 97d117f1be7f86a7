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

std::shared_ptr<ServerContext> make_context(service::Service& service,
                                            const ServerOptions& options) {
  return std::make_shared<ServerContext>(
      service,
      ServerSettings{.limits = {.bytes = options.resp.max_request_bytes},
                     .passwords = options.resp.passwords,
                     .version = options.version,
                     .on_failure = options.on_failure,
                     .request_timeout = options.request_timeout},
      net::phase_limits({{Phase::Handshake, options.handshake_timeout},
                         {Phase::Idle, options.resp.idle_timeout},
                         {Phase::Header, options.command_timeout},
                         {Phase::Write, options.write_timeout},
                         {Phase::Linger, options.linger}}));
}

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

Server::Server(boost::asio::io_context& loop, service::Service& service,
               const ServerOptions& options)
    : SocketListener(loop, make_context(service, options),
                     {.max_connections = options.resp.max_connections,
                      .per_address = options.per_address,
                      .tls = options.resp.tls,
                      .protocols = {},
                      .tick = options.tick},
                     on_accept) {}

Result<std::vector<net::Address>> Server::listen(const std::vector<net::Address>& addresses,
                                                 net::PortReuse port_reuse) {
  const Result<void> open = require_password({.listen = addresses});
  is_exposed_ = !open;
  if (is_exposed_ && state().settings.passwords.empty()) return open.error();
  return SocketListener::listen(addresses, port_reuse);
}

Result<void> Server::reload(const rules::Settings& settings) {
  if (is_exposed_ && settings.resp.passwords.empty()) {
    return Error{ErrorCode::Misconfigured,
                 "password: other machines can connect, so there must be one"};
  }
  const Result<void> loaded = acceptor().reload_tls(settings.resp.tls);
  if (loaded) state().settings.passwords = settings.resp.passwords;
  return loaded;
}

}  // namespace penstock::wire::resp
