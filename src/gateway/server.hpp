#pragma once

#include "gateway/proxy/gateway_context.hpp"
#include "net/connection_acceptor.hpp"
#include "net/listener_base.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/settings.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace penstock::gateway {

struct ServerOptions {
  Duration handshake_timeout = std::chrono::seconds{10};
  Duration linger = std::chrono::seconds{2};         // for a client to read its last response
  std::shared_ptr<net::AddressLimit> per_address{};  // null: addresses are not limited
  Duration tick = std::chrono::milliseconds{100};    // how often timeouts are checked
};

// The gateway of one event loop: accepts clients and forwards requests that the limits allow. Each
// worker has its own, on the same addresses.
//
// Memory: about 6 KB for an idle connection, two buffers of 16 KB for one with a request in flight,
// independent of body size.
// Thread-safety: none; everything runs on the event loop, which one thread runs and which outlives
// the server.
class Server final : public net::Listener {
 public:
  // The error names the setting.
  [[nodiscard]] static Result<std::unique_ptr<Server>> make(boost::asio::io_context& loop,
                                                            const rules::Settings& settings,
                                                            const GatewayDeps& deps,
                                                            const ServerOptions& options = {});
  ~Server() override;

  [[nodiscard]] Result<void> reload(const rules::Settings& settings) override {
    return acceptor_.reload_tls(settings.gateway.tls);
  }
  [[nodiscard]] Result<std::vector<net::Address>> listen(const std::vector<net::Address>& addresses,
                                                         net::PortReuse port_reuse) override;
  void drain() override { acceptor_.drain(); }
  void stop(Duration grace, std::function<void()> stopped) override;
  [[nodiscard]] const net::Statistics& statistics() const noexcept override {
    return context_->statistics;
  }

 private:
  Server(boost::asio::io_context& loop, std::shared_ptr<GatewayContext> context,
         const ServerOptions& options);
  static net::Awaitable<void> watch(std::shared_ptr<GatewayContext> context,
                                    std::shared_ptr<net::Timer> timer, Duration tick);

  boost::asio::io_context& loop_;
  Duration tick_;
  std::shared_ptr<GatewayContext> context_;
  std::shared_ptr<net::Timer> timer_;
  net::ConnectionAcceptor acceptor_;
  bool is_watching_ = false;
};

}  // namespace penstock::gateway
