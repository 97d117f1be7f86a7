#pragma once

#include "gateway/proxy/access_log.hpp"
#include "gateway/proxy/forwarded_request.hpp"
#include "gateway/proxy/gateway_metrics.hpp"
#include "gateway/upstream/in_flight.hpp"
#include "gateway/upstream/route_table.hpp"
#include "gateway/upstream/upstream.hpp"
#include "http/client_address.hpp"
#include "http/response_text.hpp"
#include "net/server_state.hpp"
#include "penstock/clock.hpp"
#include "rules/settings/settings.hpp"
#include "service/service.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Dependencies of a worker's gateway. REQUIRES: all of them outlive it.
struct GatewayDeps {
  service::Service& service;
  telemetry::WorkerMetrics& metrics;
  InFlight& in_flight;
  const Clock& clock;
};

// What a reload replaces as a whole. A request keeps the one that it started with.
struct GatewayConfig {
  rules::GatewaySettings settings;
  std::vector<rules::HeaderDraft> drafts;
  http::TrustedProxies trusted;
  RouteTable routes{settings};
  // Of each upstream, in the order of the settings:
  std::vector<std::shared_ptr<Upstream>> upstreams;
  std::vector<InFlight::Counter*> in_flight;
  GatewayMetrics metrics;

  std::shared_ptr<AccessLog> log;

  [[nodiscard]] Trust trust_in(const std::string& peer) const {
    const auto address = http::read_address(peer);
    return address && trusted.contains(*address) ? Trust::Proxy : Trust::None;
  }
  // The limit of requests in flight per client holds across all nodes.
  [[nodiscard]] bool has_shared_limit() const noexcept {
    return settings.max_in_flight.shared && settings.max_in_flight.limit > 0;
  }
};

// State shared by the connections of a gateway, which keep it alive.
struct GatewayContext : net::ServerState {
  GatewayContext(net::Executor runs_on, const GatewayDeps& deps)
      : executor(std::move(runs_on)),
        service(deps.service),
        worker_metrics(deps.metrics),
        in_flight(deps.in_flight),
        permits(
            std::make_shared<SharedPermits>(service.stores().permits, SharedPermits::Options{})),
        clock(deps.clock) {}

  net::Executor executor;
  service::Service& service;
  telemetry::WorkerMetrics& worker_metrics;
  InFlight& in_flight;
  std::shared_ptr<SharedPermits> permits;
  const Clock& clock;
  http::DateHeader date{};
  std::shared_ptr<GatewayConfig> config{};  // of new requests
  // Also those of earlier configurations, while they have requests in flight.
  std::vector<std::weak_ptr<Upstream>> upstreams{};
};

}  // namespace penstock::gateway
