#pragma once

#include "net/listener.hpp"
#include "net/server_state.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/settings.hpp"
#include "service/service.hpp"
#include "wire/grpc/rate_limiter.hpp"
#include "wire/grpc/session.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <vector>

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

// See net::SocketListener.
struct ServerOptions {
  rules::GrpcSettings grpc{};                 // `listen` is not used
  std::vector<rules::HeaderDraft> headers{};  // in responses
  Duration handshake_timeout = std::chrono::seconds{10};
  Duration preface_timeout = std::chrono::seconds{10};  // for the preface, and for a header block
  Duration request_timeout = std::chrono::seconds{1};   // of a call without grpc-timeout
  Duration receive_timeout = std::chrono::seconds{10};  // for the message of a call to arrive
  Duration write_timeout = std::chrono::seconds{10};    // for a client to read the responses
  Duration linger = std::chrono::seconds{2};            // for a client to read the last response
  net::ListenerShared shared{};
  Duration tick = std::chrono::milliseconds{100};  // how often timeouts are checked

  void use(const rules::Settings& settings);
  [[nodiscard]] net::AcceptorOptions acceptor_options() const;
  Result<void> apply_to(ServerCore& core) const;
};

// Envoy's rate limit service over gRPC, for one event loop: HTTP/2 with prior knowledge, or over
// TLS; also health and reflection. Each worker has its own, on the same addresses.
//
// max_connections is per server: one more gets GOAWAY. Stopping: health is NOT_SERVING at once,
// connections get GOAWAY, calls in flight are answered.
// Thread-safety: none; everything happens on the event loop, which one thread runs. The service and
// the event loop outlive the server; the server may be destroyed while responses are pending.
class Server final : public net::SocketListener<ServerCore, ServerOptions> {
 public:
  Server(boost::asio::io_context& loop, service::Service& service, const ServerOptions& options);
};

}  // namespace penstock::wire::grpc
