#pragma once

#include "gateway/proxy/access_log.hpp"
#include "gateway/proxy/gateway_metrics.hpp"
#include "gateway/upstream/in_flight.hpp"
#include "gateway/upstream/route_table.hpp"
#include "gateway/upstream/upstream.hpp"
#include "http/client_address.hpp"
#include "http/response_text.hpp"
#include "net/connection.hpp"
#include "penstock/clock.hpp"
#include "rules/settings/settings.hpp"
#include "service/service.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// Dependencies of a worker's gateway. REQUIRES: all of them outlive it.
struct GatewayDeps {
  service::Service& service;
  telemetry::WorkerMetrics& metrics;
  InFlight& in_flight;
  const Clock& clock;
};

// State shared by the connections of a gateway, which keep it alive.
struct GatewayContext : net::ServerState {
  GatewayContext(net::Timeouts::Durations limits, const rules::Settings& all,
                 http::TrustedProxies proxies, const GatewayDeps& deps)
      : ServerState(limits),
        settings(all.gateway),
        drafts(all.headers),
        trusted(std::move(proxies)),
        routes(settings),
        service(deps.service),
        in_flight(deps.in_flight),
        clock(deps.clock),
        log(settings.access_log),
        metrics(deps.metrics, names_of(settings)) {
    const rules::InFlightSettings& in_flight_of = settings.max_in_flight;
    if (!in_flight_of.shared || in_flight_of.limit == 0) return;
    permits = std::make_shared<SharedPermits>(
        service.stores().permits,
        SharedPermits::Options{.limit = static_cast<std::uint32_t>(in_flight_of.limit),
                               .lease = in_flight_of.lease,
                               .prefix = "gateway:" + in_flight_of.key + "="});
  }

  [[nodiscard]] static std::vector<std::string_view> names_of(
      const rules::GatewaySettings& settings) {
    std::vector<std::string_view> names;
    for (const rules::UpstreamSettings& upstream : settings.upstreams) {
      names.push_back(upstream.name);
    }
    return names;
  }

  rules::GatewaySettings settings;
  std::vector<rules::HeaderDraft> drafts;
  http::TrustedProxies trusted;
  RouteTable routes;
  service::Service& service;
  InFlight& in_flight;
  std::shared_ptr<SharedPermits> permits{};  // null when limits are per node
  const Clock& clock;
  AccessLog log;
  GatewayMetrics metrics;
  http::DateHeader date{};
  std::vector<std::shared_ptr<Upstream>> upstreams{};
};

}  // namespace penstock::gateway
