#include "wire/resp/server.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/basic_resolver.hpp>

#include <algorithm>
#include <utility>

namespace penstock::wire::resp {
namespace {

using boost::system::error_code;
using net::Phase;

constexpr std::string_view kTooManyConnections = "ERR max number of clients reached";

net::Timeouts::Durations limits_of(const ServerOptions& options) {
  net::Timeouts::Durations limits;
  limits.fill(std::chrono::steady_clock::duration::max());
  const auto set = [&limits](Phase phase, Duration limit) {
    limits.at(static_cast<std::size_t>(phase)) = std::min(limit, Duration{std::chrono::hours{24}});
  };
  set(Phase::Handshake, options.handshake_timeout);
  set(Phase::Idle, options.resp.idle_timeout);
  set(Phase::Header, options.command_timeout);
  set(Phase::Write, options.write_timeout);
  set(Phase::Linger, options.linger);
  return limits;
}

ServerSettings terms_of(const ServerOptions& options) {
  return {.limits = {.bytes = options.resp.max_request_bytes},
          .passwords = options.resp.passwords,
          .version = options.version,
          .on_failure = options.on_failure,
          .request_timeout = options.request_timeout};
}

void start_connection(const std::shared_ptr<ServerCore>& core,
                      net::ConnectionAcceptor::AcceptedSocket accepted) {
  const auto start = [&](const auto& connection, std::string_view refusal) {
    connection->slot = std::move(accepted.slot);
    connection->start(refusal);
  };
  if (accepted.tls == nullptr) {
    start(std::make_shared<Connection<net::Socket>>(core, std::move(accepted.socket),
                                                    std::move(accepted.peer)),
          accepted.too_many ? kTooManyConnections : std::string_view{});
  } else {
    start(std::make_shared<Connection<net::TlsStream>>(
              core, net::TlsStream(std::move(accepted.socket), *accepted.tls),
              std::move(accepted.peer)),
          {});
  }
}

// Whether all addresses of this name are of this machine. A name without an address is reported
// when the server tries to listen on it.
bool is_loopback(const rules::Address& address) {
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
  for (const rules::Address& address : settings.listen) {
    if (is_loopback(address)) continue;
    return Error{ErrorCode::Misconfigured,
                 "resp.listen " + address.host + ":" + std::to_string(address.port) +
                     ": other machines can connect, and the configuration has no resp.password"};
  }
  return {};
}

Server::Server(boost::asio::io_context& loop, service::Service& service, ServerOptions options)
    : core_(std::make_shared<ServerCore>(limits_of(options), service, terms_of(options))),
      acceptor_(loop, core_,
                {.max_connections = options.resp.max_connections,
                 .per_address = options.per_address,
                 .tls = options.resp.tls,
                 .protocols = {},
                 .tick = options.tick},
                [core = core_](net::ConnectionAcceptor::AcceptedSocket accepted) {
                  start_connection(core, std::move(accepted));
                }) {}

Result<std::vector<rules::Address>> Server::listen(const std::vector<rules::Address>& addresses,
                                                   net::PortReuse port_reuse) {
  const Result<void> open = require_password({.listen = addresses});
  is_exposed_ = !open;
  if (is_exposed_ && core_->server_context.settings.passwords.empty()) return open.error();
  return acceptor_.listen(addresses, port_reuse);
}

Result<void> Server::reload(const rules::Settings& settings) {
  if (is_exposed_ && settings.resp.passwords.empty()) {
    return Error{ErrorCode::Misconfigured,
                 "password: other machines can connect, so there must be one"};
  }
  const Result<void> loaded = acceptor_.reload_tls(settings.resp.tls);
  if (loaded) core_->server_context.settings.passwords = settings.resp.passwords;
  return loaded;
}

}  // namespace penstock::wire::resp
