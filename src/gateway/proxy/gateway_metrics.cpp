#include "gateway/proxy/gateway_metrics.hpp"

#include <string>

namespace penstock::gateway {

using namespace telemetry::metrics;

GatewayMetrics::GatewayMetrics(telemetry::WorkerMetrics& metrics,
                               const std::vector<std::string_view>& upstreams)
    : rejected_{&metrics.cell(kGatewayRejected, {"no_route"}),
                &metrics.cell(kGatewayRejected, {"client_in_flight"}),
                &metrics.cell(kGatewayRejected, {"upstream_in_flight"}),
                &metrics.cell(kGatewayRejected, {"no_healthy_upstream"})},
      shared_limit_unavailable_(metrics.cell(kGatewaySharedLimitUnavailable)),
      latency_(metrics.latency(kUpstreamLatency)) {
  for (const std::string_view name : upstreams) {
    UpstreamCells cells{.retries = &metrics.cell(kUpstreamRetries, {name}),
                        .in_flight = &metrics.cell(kUpstreamInFlight, {name}),
                        .healthy = &metrics.cell(kUpstreamHealthyServers, {name})};
    cells.answers[0] = &metrics.cell(kUpstreamRequests, {name, "none"});
    for (std::size_t digit = 1; digit < cells.answers.size(); ++digit) {
      cells.answers.at(digit) =
          &metrics.cell(kUpstreamRequests, {name, std::to_string(digit) + "xx"});
    }
    upstreams_.push_back(cells);
  }
}

}  // namespace penstock::gateway
