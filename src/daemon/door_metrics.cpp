#include "daemon/door_metrics.hpp"

#include <cstdint>
#include <numeric>
#include <string>

namespace penstock::daemon {

using namespace telemetry::metrics;

DoorMetrics::DoorMetrics(telemetry::WorkerMetrics& metrics, std::string_view door)
    : connections_(metrics.cell(kDoorConnections, {door})),
      accepted_(metrics.cell(kDoorAccepted, {door})),
      refused_(metrics.cell(kDoorRefused, {door})),
      refused_per_address_(metrics.cell(kDoorRefusedPerAddress, {door})),
      refunds_ignored_(metrics.cell(kDoorRefundsIgnored, {door})),
      timeouts_(metrics.cell(kDoorErrors, {door, "timeout"})),
      tls_failures_(metrics.cell(kDoorErrors, {door, "tls"})),
      accept_failures_(metrics.cell(kDoorErrors, {door, "accept"})),
      http_requests_(door == "resp" ? &metrics.cell(kDoorErrors, {door, "http"}) : nullptr) {
  for (std::size_t digit = 1; digit < responses_.size(); ++digit) {
    responses_[digit] = &metrics.cell(kDoorRequests, {door, std::to_string(digit) + "xx"});
  }
}

DoorMetrics::News DoorMetrics::show(const net::Statistics& statistics) {
  const auto set = [](telemetry::Cell& cell, std::uint64_t value) {
    const auto known = static_cast<std::uint64_t>(cell.get());
    cell.set(static_cast<std::int64_t>(value));
    return value - known;
  };
  // Idle connections that are closed are no error. Lingering ones have their last answer: when a
  // timeout was the reason for it, that has been counted.
  const auto of = [&](net::Phase phase) {
    return statistics.timeouts[static_cast<std::size_t>(phase)];
  };
  const std::uint64_t timeouts =
      std::accumulate(statistics.timeouts.begin(), statistics.timeouts.end(), std::uint64_t{0}) -
      of(net::Phase::Idle) - of(net::Phase::Linger);
  set(connections_, statistics.open);
  set(accepted_, statistics.accepted);
  set(refused_, statistics.refused);
  set(timeouts_, timeouts);
  set(tls_failures_, statistics.handshake_failures);
  for (std::size_t digit = 1; digit < responses_.size(); ++digit) {
    set(*responses_[digit], statistics.responses[digit]);
  }
  return {.accept_failures = set(accept_failures_, statistics.accept_failures),
          .refused_per_address = set(refused_per_address_, statistics.refused_per_address),
          .refunds_ignored = set(refunds_ignored_, statistics.refunds_ignored),
          .http_requests =
              http_requests_ == nullptr ? 0 : set(*http_requests_, statistics.http_requests)};
}

}  // namespace penstock::daemon
