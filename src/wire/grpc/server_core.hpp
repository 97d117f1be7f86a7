#pragma once

#include "net/server_state.hpp"
#include "rules/settings/settings.hpp"
#include "wire/grpc/rate_limiter.hpp"
#include "wire/grpc/session.hpp"

namespace penstock::wire::grpc {

// What a server shares with its connections. They keep it alive, but not the service, which is not
// called after the server is destroyed.
struct ServerCore : net::ServerState {
  ServerCore(net::Timeouts::Durations limits, service::Service& service,
             const RateLimiterOptions& answers, const http2::SessionOptions& http2_options,
             const rules::GrpcSettings& settings, Duration request_timeout,
             Duration receive_timeout)
      : ServerState(limits),
        limiter(service, answers),
        server_context{.limiter = limiter,
                       .state = *this,
                       .http2_options = http2_options,
                       .max_message_bytes = settings.max_message_bytes,
                       .max_connection_buffer_bytes = settings.max_connection_buffer_bytes,
                       .max_buffer_bytes = settings.max_buffer_bytes,
                       .request_timeout = request_timeout,
                       .receive_timeout = receive_timeout},
        refunds(settings.refunds),
        authenticates_clients(settings.tls && !settings.tls->client_ca.empty()) {}

  [[nodiscard]] Refunds refunds_for(const net::Peer& peer) const {
    const bool is_known = peer.is_loopback || authenticates_clients;
    const bool allowed =
        refunds == rules::GrpcRefunds::Allow || (refunds == rules::GrpcRefunds::Auto && is_known);
    return allowed ? Refunds::Allowed : Refunds::Ignored;
  }

  RateLimiter limiter;
  ServerContext server_context;
  rules::GrpcRefunds refunds;
  bool authenticates_clients;  // by certificate
};

}  // namespace penstock::wire::grpc
