#pragma once

#include "net/server_state.hpp"
#include "rules/settings/settings.hpp"
#include "wire/grpc/rate_limiter.hpp"
#include "wire/grpc/session.hpp"

namespace penstock::wire::grpc {

// What a server shares with its connections. They keep it alive, but not the service, which is not
// called after the server is destroyed.
struct ServerCore : net::ServerState {
  explicit ServerCore(service::Service& service)
      : limiter(service, {}), server_context{.limiter = limiter, .state = *this} {}

  [[nodiscard]] Refunds refunds_for(const net::Peer& peer) const {
    const bool is_known = peer.is_loopback || authenticates_clients;
    const bool allowed =
        refunds == rules::GrpcRefunds::Allow || (refunds == rules::GrpcRefunds::Auto && is_known);
    return allowed ? Refunds::Allowed : Refunds::Ignored;
  }

  RateLimiter limiter;
  ServerContext server_context;
  rules::GrpcRefunds refunds = rules::GrpcRefunds::Auto;
  bool authenticates_clients = false;  // by certificate
};

}  // namespace penstock::wire::grpc
