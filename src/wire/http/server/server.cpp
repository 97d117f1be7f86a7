#include "wire/http/server/server.hpp"

#include "wire/http/server/connection.hpp"

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

constexpr Refusal kTooMany{503, "too many connections"};

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

void admit(const std::shared_ptr<ServerCore>& core, net::Reception::Arrival arrival) {
  const auto start = [&](const auto& connection, const Refusal* refusal) {
    connection->slot = std::move(arrival.slot);
    connection->start(refusal);
  };
  if (arrival.tls == nullptr) {
    start(std::make_shared<Connection<net::Socket>>(core, std::move(arrival.socket),
                                                    std::move(arrival.peer)),
          arrival.too_many ? &kTooMany : nullptr);
  } else {
    start(
        std::make_shared<Connection<net::TlsStream>>(
            core, net::TlsStream(std::move(arrival.socket), *arrival.tls), std::move(arrival.peer)),
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
      reception_(
          loop, core_,
          {.max_connections = options.http.max_connections,
           .per_address = options.per_address,
           .tls = options.http.tls,
           .protocols = {"http/1.1"},
           .tick = options.tick},
          [core = core_](net::Reception::Arrival arrival) { admit(core, std::move(arrival)); }) {}

}  // namespace penstock::http
