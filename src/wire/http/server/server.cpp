#include "wire/http/server/server.hpp"

#include "wire/http/server/connection.hpp"

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

constexpr HttpError kTooManyConnections{503, "too many connections"};

net::Timeouts::Durations limits_of(const ServerOptions& options) {
  constexpr auto kNever = std::chrono::steady_clock::duration::max();
  const rules::HttpSettings& http = options.http;
  net::Timeouts::Durations limits;
  limits.fill(kNever);
  const auto set = [&limits](net::Phase phase, Duration limit) {
    limits.at(static_cast<std::size_t>(phase)) = std::min(limit, Duration{std::chrono::hours{24}});
  };
  set(net::Phase::Handshake, options.handshake_timeout);
  set(net::Phase::Idle, http.idle_timeout);
  set(net::Phase::Header, http.header_timeout);
  set(net::Phase::Body, http.body_timeout);
  set(net::Phase::Write, http.write_timeout);
  set(net::Phase::Linger, options.linger);
  return limits;
}

void start_connection(const std::shared_ptr<ServerCore>& core,
                      net::ConnectionAcceptor::AcceptedSocket accepted) {
  const auto start = [&](const auto& connection, const HttpError* error) {
    connection->slot = std::move(accepted.slot);
    connection->start(error);
  };
  if (accepted.tls == nullptr) {
    start(std::make_shared<Connection<net::Socket>>(core, std::move(accepted.socket),
                                                    std::move(accepted.peer)),
          accepted.too_many ? &kTooManyConnections : nullptr);
  } else {
    start(std::make_shared<Connection<net::TlsStream>>(
              core, net::TlsStream(std::move(accepted.socket), *accepted.tls),
              std::move(accepted.peer)),
          nullptr);
  }
}

}  // namespace

Server::Server(boost::asio::io_context& loop, Handler& handler, ServerOptions options,
               const Clock& clock)
    : core_(std::make_shared<ServerCore>(limits_of(options), handler, clock,
                                         ReaderLimits{.header_bytes = options.http.max_header_bytes,
                                                      .body_bytes = options.http.max_body_bytes},
                                         options.request_timeout)),
      acceptor_(loop, core_,
                {.max_connections = options.http.max_connections,
                 .per_address = options.per_address,
                 .tls = options.http.tls,
                 .protocols = {"http/1.1"},
                 .tick = options.tick},
                [core = core_](net::ConnectionAcceptor::AcceptedSocket accepted) {
                  start_connection(core, std::move(accepted));
                }) {}

}  // namespace penstock::http
