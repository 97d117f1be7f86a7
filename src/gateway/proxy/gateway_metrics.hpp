#pragma once

#include "telemetry/metrics.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// Why a request was not forwarded, besides a limit.
enum class Refused : std::uint8_t { NoRoute, ClientInFlight, UpstreamInFlight, NoServer };

// What a gateway of one worker counts. Thread-safety: none, but that others may scrape meanwhile.
class GatewayMetrics {
 public:
  GatewayMetrics(telemetry::WorkerMetrics& metrics, const std::vector<std::string_view>& upstreams);

  void refused(Refused why) { refused_.at(static_cast<std::size_t>(why))->add(); }
  void unshared() { unshared_.add(); }
  // 0 for no answer at all.
  void answered(std::size_t upstream, unsigned status) {
    const unsigned digit = status / 100;
    upstreams_[upstream].answers.at(digit > 5 ? 0 : digit)->add();
  }
  void waited(telemetry::LatencyCells::Duration time) { latency_.observe(time); }
  void retried(std::size_t upstream) { upstreams_[upstream].retries->add(); }
  void show(std::size_t upstream, std::size_t in_flight, std::size_t well) {
    upstreams_[upstream].in_flight->set(static_cast<std::int64_t>(in_flight));
    upstreams_[upstream].well->set(static_cast<std::int64_t>(well));
  }

 private:
  struct UpstreamCells {
    std::array<telemetry::Cell*, 6> answers{};  // by the first digit of their status
    telemetry::Cell* retries = nullptr;
    telemetry::Cell* in_flight = nullptr;
    telemetry::Cell* well = nullptr;
  };
  std::array<telemetry::Cell*, 4> refused_{};
  telemetry::Cell& unshared_;
  telemetry::LatencyCells& latency_;
  std::vector<UpstreamCells> upstreams_;
};

}  // namespace penstock::gateway
