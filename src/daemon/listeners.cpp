#include "daemon/listeners.hpp"

#include <numeric>

namespace penstock::daemon {

std::vector<ListenerPlan> planned_listeners(const rules::Settings& settings) {
  std::vector<ListenerPlan> listeners;
  listeners.push_back({.kind = ListenerKind::Http,
                       .scheme = settings.http.tls ? "https" : "http",
                       .listen = settings.http.listen});
  if (!settings.grpc.listen.empty()) {
    listeners.push_back({.kind = ListenerKind::Grpc,
                         .scheme = settings.grpc.tls ? "grpcs" : "grpc",
                         .listen = settings.grpc.listen});
  }
  if (!settings.resp.listen.empty()) {
    listeners.push_back({.kind = ListenerKind::Resp,
                         .scheme = settings.resp.tls ? "rediss" : "redis",
                         .listen = settings.resp.listen});
  }
  if (!settings.gateway.listen.empty()) {
    listeners.push_back({.kind = ListenerKind::Gateway,
                         .scheme = settings.gateway.tls ? "https" : "http",
                         .listen = settings.gateway.listen});
  }
  return listeners;
}

SharedByWorkers shared_by_workers(const rules::Settings& settings) {
  SharedByWorkers shared;
  for (const ListenerPlan& listener : planned_listeners(settings)) {
    shared[listener.kind] = {.per_address = std::make_shared<net::AddressLimit>(
                                 settings.max_connections_per_address, settings.trusted_proxies),
                             .tickets = net::TicketSecret::make()};
  }
  return shared;
}

void use_address_limits(const SharedByWorkers& shared, const rules::Settings& settings) {
  for (const auto& [kind, each] : shared) {
    each.per_address->use(settings.max_connections_per_address, settings.trusted_proxies);
  }
}

using namespace telemetry::metrics;

ListenerMetrics::ListenerMetrics(telemetry::WorkerMetrics& metrics, ListenerKind kind)
    : connections_(metrics.cell(kListenerConnections, {to_string(kind)})),
      accepted_(metrics.cell(kListenerAccepted, {to_string(kind)})),
      rejected_(metrics.cell(kListenerRejected, {to_string(kind)})),
      rejected_per_address_(metrics.cell(kListenerRejectedPerAddress, {to_string(kind)})),
      refunds_ignored_(metrics.cell(kListenerRefundsIgnored, {to_string(kind)})),
      timeouts_(metrics.cell(kListenerErrors, {to_string(kind), "timeout"})),
      tls_failures_(metrics.cell(kListenerErrors, {to_string(kind), "tls"})),
      accept_failures_(metrics.cell(kListenerErrors, {to_string(kind), "accept"})),
      http_requests_(kind == ListenerKind::Resp
                         ? &metrics.cell(kListenerErrors, {to_string(kind), "http"})
                         : nullptr) {
  for (std::size_t digit = 1; digit < responses_.size(); ++digit) {
    responses_[digit] =
        &metrics.cell(kListenerRequests, {to_string(kind), std::to_string(digit) + "xx"});
  }
}

ListenerMetrics::Changes ListenerMetrics::update(const net::Statistics& statistics) {
  const auto set = [](telemetry::Cell& cell, std::uint64_t value) {
    const auto known = static_cast<std::uint64_t>(cell.get());
    cell.set(static_cast<std::int64_t>(value));
    return value - known;
  };
  // Closed idle connections are not errors. Lingering ones have their last response; a timeout that
  // caused it was counted before.
  const auto of = [&](net::Phase phase) {
    return statistics.timeouts[static_cast<std::size_t>(phase)];
  };
  const std::uint64_t timeouts =
      std::accumulate(statistics.timeouts.begin(), statistics.timeouts.end(), std::uint64_t{0}) -
      of(net::Phase::Idle) - of(net::Phase::Linger);
  set(connections_, statistics.open);
  set(accepted_, statistics.accepted);
  set(rejected_, statistics.rejected);
  set(timeouts_, timeouts);
  set(tls_failures_, statistics.handshake_failures);
  for (std::size_t digit = 1; digit < responses_.size(); ++digit) {
    set(*responses_[digit], statistics.responses[digit]);
  }
  return {.accept_failures = set(accept_failures_, statistics.accept_failures),
          .rejected_per_address = set(rejected_per_address_, statistics.rejected_per_address),
          .refunds_ignored = set(refunds_ignored_, statistics.refunds_ignored),
          .http_requests =
              http_requests_ == nullptr ? 0 : set(*http_requests_, statistics.http_requests)};
}

}  // namespace penstock::daemon
