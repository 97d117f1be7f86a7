#pragma once

#include "gateway/proxy/gateway_context.hpp"
#include "net/listener.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/settings.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace penstock::gateway {

// See net::SocketListener.
struct ServerOptions {
  rules::GatewaySettings gateway{};            // `listen` is not used
  std::vector<rules::HeaderDraft> headers{};   // in responses
  std::vector<std::string> trusted_proxies{};  // CIDR
  Duration handshake_timeout = std::chrono::seconds{10};
  Duration linger = std::chrono::seconds{2};  // for a client to read its last response
  net::ListenerShared shared{};
  Duration tick = std::chrono::milliseconds{100};  // how often timeouts are checked

  void use(const rules::Settings& settings);
  [[nodiscard]] net::AcceptorOptions acceptor_options() const;
  // Upstreams whose settings have not changed keep their connections and their health.
  [[nodiscard]] Result<void> apply_to(GatewayContext& context) const;
};

// The gateway of one event loop: accepts clients and forwards requests that the limits allow. Each
// worker has its own, on the same addresses.
//
// Memory: about 6 KB for an idle connection, two buffers of 16 KB for one with a request in flight,
// independent of body size.
// Thread-safety: none; everything runs on the event loop, which one thread runs and which outlives
// the server.
class Server final : public net::SocketListener<GatewayContext, ServerOptions> {
 public:
  Server(boost::asio::io_context& loop, const GatewayDeps& deps, const ServerOptions& options);
  ~Server() override;

  [[nodiscard]] Result<std::vector<net::Address>> listen(const std::vector<net::Address>& addresses,
                                                         net::PortReuse port_reuse) override;
  void stop(Duration grace, std::function<void()> stopped) override;

 private:
  static net::Awaitable<void> watch(std::shared_ptr<GatewayContext> context,
                                    std::shared_ptr<net::Timer> timer, Duration tick);
  void close();

  Duration tick_;
  std::shared_ptr<net::Timer> timer_;
  bool is_watching_ = false;
};

}  // namespace penstock::gateway
