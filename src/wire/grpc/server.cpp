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
  set(net::Phase::Answer, options.grpc.idle_timeout);
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

void admit(const std::shared_ptr<ServerCore>& core, net::Reception::Arrival arrival) {
  const Welcome welcome = arrival.too_many ? Welcome::TooMany : Welcome::Served;
  const auto start = [&](const auto& connection) {
    connection->slot = std::move(arrival.slot);
    connection->start(welcome);
  };
  if (arrival.tls == nullptr) {
    start(std::make_shared<Connection<net::Socket>>(core, std::move(arrival.socket), arrival.peer));
  } else {
    start(std::make_shared<Connection<net::TlsStream>>(
        core, net::TlsStream(std::move(arrival.socket), *arrival.tls), arrival.peer));
  }
}

}  // namespace

Server::Server(boost::asio::io_context& loop, service::Service& service,
               const ServerOptions& options)
    : core_(std::make_shared<ServerCore>(limits_of(options), service, answers_of(options),
                                         session_of(options), options.grpc, options.request_timeout,
                                         options.receive_timeout)),
      reception_(
          loop, core_,
          {.max_connections = options.grpc.max_connections,
           .per_address = options.per_address,
           .tls = options.grpc.tls,
           .protocols = {"h2"},
           .tick = options.tick},
          [core = core_](net::Reception::Arrival arrival) { admit(core, std::move(arrival)); }) {}

}  // namespace penstock::wire::grpc
