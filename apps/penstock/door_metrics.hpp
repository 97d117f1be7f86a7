#pragma once

#include "net/statistics.hpp"
#include "telemetry/metrics.hpp"

#include <array>
#include <string_view>

namespace penstock::app {

// What a server of one worker has counted, as metrics.
class DoorMetrics {
 public:
  DoorMetrics(telemetry::WorkerMetrics& metrics, std::string_view door);

  // How many connections could not be accepted since the last time.
  std::uint64_t show(const net::Statistics& statistics);

 private:
  telemetry::Cell& connections_;
  telemetry::Cell& accepted_;
  telemetry::Cell& refused_;
  telemetry::Cell& timeouts_;
  telemetry::Cell& tls_failures_;
  telemetry::Cell& accept_failures_;
  std::array<telemetry::Cell*, 6> responses_{};  // by the first digit of their status
};

}  // namespace penstock::app
