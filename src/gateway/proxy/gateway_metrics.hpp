#pragma once

#include "telemetry/metrics.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// Why a request was rejected, other than by a limit.
enum class RejectReason : std::uint8_t {
  NoRoute,
  ClientInFlight,
  UpstreamInFlight,
  NoHealthyServer
};

// Metrics of one worker's gateway. Thread-safety: none, except that other threads may scrape.
class GatewayMetrics {
 public:
  GatewayMetrics(telemetry::WorkerMetrics& metrics, const std::vector<std::string_view>& upstreams);

  void rejected(RejectReason why) { rejected_.at(static_cast<std::size_t>(why))->add(); }
  void shared_limit_unavailable() { shared_limit_unavailable_.add(); }
  // Status 0: no response.
  void answered(std::size_t upstream, unsigned status) {
    const unsigned digit = status / 100;
    upstreams_[upstream].answers.at(digit > 5 ? 0 : digit)->add();
  }
  void observe_latency(telemetry::LatencyCells::Duration time) { latency_.observe(time); }
  void retried(std::size_t upstream) { upstreams_[upstream].retries->add(); }
  void set_gauges(std::size_t upstream, std::size_t in_flight, std::size_t healthy) {
    upstreams_[upstream].in_flight->set(static_cast<std::int64_t>(in_flight));
    upstreams_[upstream].healthy->set(static_cast<std::int64_t>(healthy));
  }

 private:
  struct UpstreamCells {
    std::array<telemetry::Cell*, 6> answers{};  // by the first digit of the status
    telemetry::Cell* retries = nullptr;
    telemetry::Cell* in_flight = nullptr;
    telemetry::Cell* healthy = nullptr;
  };
  std::array<telemetry::Cell*, 4> rejected_{};
  telemetry::Cell& shared_limit_unavailable_;
  telemetry::LatencyCells& latency_;
  std::vector<UpstreamCells> upstreams_;
};

}  // namespace penstock::gateway
