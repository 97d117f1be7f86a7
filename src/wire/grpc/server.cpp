#include "wire/grpc/server.hpp"

#include "wire/grpc/connection.hpp"

#include <algorithm>

namespace penstock::wire::grpc {
namespace {

net::Timeouts::Durations limits_of(const ServerOptions& options) {
  constexpr auto kNever = std::chrono::steady_clock::duration::max();
  net::Timeouts::Durations limits;
  limits.fill(kNever);
  const auto set = [&limits](net::Phase phase, Duration limit) {
    limits.at(static_cast<std::size_t>(phase)) = std::min(limit, Duration{std::chrono::hours{24}});
  };
  set(net::Phase::Handshake, options.handshake_timeout);
  set(net::Phase::Header, options.preface_timeout);
  set(net::Phase::Body, options.request_timeout);
  set(net::Phase::Idle, options.grpc.idle_timeout);
  set(net::Phase::Processing, options.grpc.idle_timeout);
  set(net::Phase::Write, options.write_timeout);
  set(net::Phase::Linger, options.linger);
  return limits;
}

RateLimiterOptions answers_of(const ServerOptions& options) {
  RateLimiterOptions answers{.dynamic_metadata = options.grpc.dynamic_metadata};
  if (options.grpc.headers) answers.headers = options.headers;
  return answers;
}

http2::SessionOptions session_of(const ServerOptions& options) {
  return {.max_streams = static_cast<std::uint32_t>(options.grpc.max_streams),
          .min_ping_interval = options.grpc.min_ping_interval};
}

void start_connection(const std::shared_ptr<ServerCore>& core,
                      net::ConnectionAcceptor::AcceptedSocket accepted) {
  const AcceptResult accept_result =
      accepted.too_many ? AcceptResult::TooManyConnections : AcceptResult::Accepted;
  const auto start = [&](const auto& connection) {
    connection->slot = std::move(accepted.slot);
    connection->start(accept_result);
  };
  if (accepted.tls == nullptr) {
    start(
        std::make_shared<Connection<net::Socket>>(core, std::move(accepted.socket), accepted.peer));
  } else {
    start(std::make_shared<Connection<net::TlsStream>>(
        core, net::TlsStream(std::move(accepted.socket), *accepted.tls), accepted.peer));
  }
}

}  // namespace

Server::Server(boost::asio::io_context& loop, service::Service& service,
               const ServerOptions& options)
    : core_(std::make_shared<ServerCore>(limits_of(options), service, answers_of(options),
                                         session_of(options), options.grpc, options.request_timeout,
                                         options.receive_timeout)),
      acceptor_(loop, core_,
                {.max_connections = options.grpc.max_connections,
                 .per_address = options.per_address,
                 .tls = options.grpc.tls,
                 .protocols = {"h2"},
                 .tick = options.tick},
                [core = core_](net::ConnectionAcceptor::AcceptedSocket accepted) {
                  start_connection(core, std::move(accepted));
                }) {}

}  // namespace penstock::wire::grpc
