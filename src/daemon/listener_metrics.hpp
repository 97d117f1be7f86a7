#pragma once

#include "daemon/listener_kind.hpp"
#include "net/statistics.hpp"
#include "telemetry/metrics.hpp"

#include <array>
#include <cstdint>

namespace penstock::daemon {

// The statistics of one listener of one worker, as metrics.
class ListenerMetrics {
 public:
  ListenerMetrics(telemetry::WorkerMetrics& metrics, ListenerKind kind);

  // Increases since the last update that belong in the log.
  struct Changes {
    std::uint64_t accept_failures = 0;
    std::uint64_t rejected_per_address = 0;
    std::uint64_t refunds_ignored = 0;
    std::uint64_t http_requests = 0;  // sent to a listener that does not speak HTTP
  };
  [[nodiscard]] Changes update(const net::Statistics& statistics);

 private:
  telemetry::Cell& connections_;
  telemetry::Cell& accepted_;
  telemetry::Cell& rejected_;
  telemetry::Cell& rejected_per_address_;
  telemetry::Cell& refunds_ignored_;
  telemetry::Cell& timeouts_;
  telemetry::Cell& tls_failures_;
  telemetry::Cell& accept_failures_;
  telemetry::Cell* http_requests_;               // of the listeners that do not speak HTTP
  std::array<telemetry::Cell*, 6> responses_{};  // by the first digit of their status
};

}  // namespace penstock::daemon
