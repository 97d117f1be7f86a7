#pragma once

#include "net/connection_acceptor.hpp"
#include "net/listener.hpp"
#include "net/statistics.hpp"
#include "rules/settings/settings.hpp"
#include "telemetry/metrics.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::daemon {

enum class ListenerKind : std::uint8_t { Http, Grpc, Resp, Gateway };

// The label in metrics and logs.
[[nodiscard]] constexpr std::string_view to_string(ListenerKind kind) {
  switch (kind) {
    case ListenerKind::Http: return "http";
    case ListenerKind::Grpc: return "grpc";
    case ListenerKind::Resp: return "resp";
    case ListenerKind::Gateway: return "gateway";
  }
  return "";
}

// The section of the configuration file.
[[nodiscard]] constexpr std::string_view settings_section(ListenerKind kind) {
  return kind == ListenerKind::Http ? "server" : to_string(kind);
}

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

// A listener that the configuration opens.
struct ListenerPlan {
  ListenerKind kind{};
  std::string scheme;  // printed at startup: "https"
  std::vector<net::Address> listen;
};

// In the order of the listeners of a worker.
[[nodiscard]] std::vector<ListenerPlan> planned_listeners(const rules::Settings& settings);

// What the workers share of each listener: limits per client address, and TLS ticket secrets.
using SharedByWorkers = std::map<ListenerKind, net::ListenerShared>;
[[nodiscard]] SharedByWorkers shared_by_workers(const rules::Settings& settings);
// For a reload.
void use_address_limits(const SharedByWorkers& shared, const rules::Settings& settings);

// A listener of one worker.
struct WorkerListener {
  ListenerKind kind{};
  std::unique_ptr<net::Listener> listener;
  ListenerMetrics metrics;
};

}  // namespace penstock::daemon
