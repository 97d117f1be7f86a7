#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::telemetry {

enum class MetricType : std::uint8_t { Counter, Gauge, Histogram };

// How the values of all workers are combined.
enum class Merge : std::uint8_t {
  Sum,
  Least,  // the minimum
};

using LabelNames = std::array<std::string_view, 3>;  // unused ones are empty

// One metric family; a test compares it with docs/reference/metrics.md.
struct Metric {
  std::string_view name;
  MetricType type = MetricType::Counter;
  std::string_view help;
  LabelNames labels{};
  std::size_t max_series = 200;  // beyond it, the last label is "other"
  Merge merge = Merge::Sum;
};

constexpr Metric counter(std::string_view name, std::string_view help, LabelNames labels = {},
                         std::size_t max_series = Metric{}.max_series) {
  return {.name = name, .help = help, .labels = labels, .max_series = max_series};
}
constexpr Metric gauge(std::string_view name, std::string_view help, LabelNames labels = {},
                       Merge merge = Merge::Sum) {
  return {.name = name, .type = MetricType::Gauge, .help = help, .labels = labels, .merge = merge};
}
constexpr Metric histogram(std::string_view name, std::string_view help) {
  return {.name = name, .type = MetricType::Histogram, .help = help};
}

namespace metrics {

inline constexpr Metric kDecisions =
    counter("penstock_decisions_total",
            "Limit checks, by outcome: allowed, denied, blocked, shadow_denied, failed_open, "
            "failed_closed or local.",
            {"domain", "outcome", "rule"}, 10'000);
inline constexpr Metric kRequests =
    counter("penstock_requests_total", "Requests answered, by reason of the decision.",
            {"reason", "domain"}, 2'000);
inline constexpr Metric kFailedOpen =
    counter("penstock_failed_open_total", "Requests allowed because the store was unavailable.");
inline constexpr Metric kLocalDenied =
    counter("penstock_local_denied_total",
            "Requests denied by the local fallback because the store was unavailable.");
inline constexpr Metric kShadowDenied =
    counter("penstock_shadow_denied_total", "Denials by shadow limits (not enforced).");

inline constexpr Metric kRolloutAborted = gauge(
    "penstock_rollout_aborted",
    "1 while the roll-out of a rule is aborted on this node and the rule is in shadow mode; 0 "
    "otherwise. For rules with abort.",
    {"rule"});
inline constexpr Metric kNearLimit =
    counter("penstock_near_limit_total",
            "Subjects that reached the near_limit of a rule, once per window and subject.",
            {"domain", "rule"}, 2'000);

inline constexpr Metric kUnknownDomain = counter(
    "penstock_unknown_domain_requests_total",
    "Requests that name a domain without rules, by decision: allowed or denied.", {"decision"});

inline constexpr Metric kStoreLatency =
    histogram("penstock_store_latency_seconds", "Latency of store calls, including failed ones.");
inline constexpr Metric kStoreErrors =
    counter("penstock_store_errors_total", "Failed store calls, by kind of error.", {"kind"});
inline constexpr Metric kStoreServing =
    gauge("penstock_store_serving",
          "1 while every worker can use the store; 0 while a circuit breaker is open or a "
          "connection is missing.",
          {}, Merge::Least);
inline constexpr Metric kStoreRoundTrips =
    counter("penstock_store_round_trips_total", "Commands sent to Redis, including retries.");
inline constexpr Metric kStoreTimeouts =
    counter("penstock_store_timeouts_total", "Commands that Redis did not answer in time.");
inline constexpr Metric kStoreFastFails =
    counter("penstock_store_fast_fails_total",
            "Commands failed at once because a circuit breaker was open.");
inline constexpr Metric kStoreConnects =
    counter("penstock_store_connects_total", "Connections opened to Redis.");
inline constexpr Metric kScriptReloads =
    counter("penstock_store_script_reloads_total",
            "Scripts sent again because they were missing in the Redis script cache.");
inline constexpr Metric kDecidedByLease = counter(
    "penstock_lease_decisions_total", "Limit checks decided from a lease, without a Redis call.");
inline constexpr Metric kDecidedByDenial =
    counter("penstock_denial_cache_hits_total",
            "Requests denied from the denial cache, without a Redis call.");
inline constexpr Metric kLeaseRequests =
    counter("penstock_lease_requests_total", "Leases requested from Redis.");
inline constexpr Metric kUnitsLeased =
    counter("penstock_leased_units_total", "Units leased from Redis.");
inline constexpr Metric kLeasedKeys =
    gauge("penstock_leased_keys", "Keys with a lease on this node.");
inline constexpr Metric kNodes =
    gauge("penstock_nodes", "Nodes that share the limits, as seen by this node.");
inline constexpr Metric kOutagePending =
    gauge("penstock_outage_unreconciled_keys",
          "Keys with units admitted during an outage and not yet reported to the store.");
inline constexpr Metric kOutageReported =
    counter("penstock_outage_reconciled_units_total",
            "Units admitted during an outage and later charged to the store.");
inline constexpr Metric kOutageLost =
    counter("penstock_outage_lost_units_total",
            "Units admitted during an outage and never charged to the store.");
inline constexpr Metric kOverrides =
    gauge("penstock_overrides", "Live overrides that this node applies.");
inline constexpr Metric kOrphanKeys =
    gauge("penstock_orphan_keys",
          "Keys in Redis that never expire or that Penstock did not write, as of the last audit.");

inline constexpr Metric kMemoryKeys = gauge("penstock_memory_keys", "Keys in the memory store.");
inline constexpr Metric kMemoryBytes =
    gauge("penstock_memory_bytes", "Memory used by the memory store.");
inline constexpr Metric kMemoryBlocked =
    gauge("penstock_memory_blocked_keys", "Keys blocked by an operator in the memory store.");
inline constexpr Metric kMemoryEvicted = counter("penstock_memory_evicted_keys_total",
                                                 "Keys evicted because the memory store was full.");
inline constexpr Metric kMemoryForgiven =
    counter("penstock_memory_evicted_units_total",
            "Units used by evicted keys, which can be admitted again.");

inline constexpr Metric kConfigReloads =
    counter("penstock_config_reloads_total",
            "Attempts to load the configuration, by result: ok or failed.", {"result"});
inline constexpr Metric kConfigOk =
    gauge("penstock_config_last_reload_successful",
          "1 when the last attempt to load the configuration succeeded.");
inline constexpr Metric kConfigTime =
    gauge("penstock_config_last_reload_success_timestamp_seconds",
          "When the active configuration was loaded, in seconds since 1970.");
inline constexpr Metric kConfigHash =
    gauge("penstock_config_hash",
          "First 52 bits of a hash of the configuration; equal on nodes with equal configuration.");
inline constexpr Metric kConfigRules = gauge("penstock_config_rules", "Active rules.");

inline constexpr Metric kListenerConnections =
    gauge("penstock_listener_connections", "Open connections, by listener.", {"listener"});
inline constexpr Metric kListenerAccepted =
    counter("penstock_listener_accepted_connections_total", "Connections accepted, by listener.",
            {"listener"});
inline constexpr Metric kListenerRejected =
    counter("penstock_listener_rejected_connections_total",
            "Connections rejected because max_connections was reached.", {"listener"});
inline constexpr Metric kListenerRejectedPerAddress =
    counter("penstock_listener_rejected_per_address_total",
            "Connections rejected because their IP address had max_connections_per_address open.",
            {"listener"});
inline constexpr Metric kListenerRefundsIgnored = counter(
    "penstock_listener_refunds_ignored_total",
    "Refunds (is_negative_hits) ignored because grpc.refunds does not allow them.", {"listener"});
inline constexpr Metric kListenerRequests =
    counter("penstock_listener_requests_total", "Requests answered, by listener and status.",
            {"listener", "status"});
inline constexpr Metric kListenerErrors =
    counter("penstock_listener_errors_total",
            "Connection errors, by listener and kind: timeout, tls, http (HTTP sent to the RESP "
            "listener) or accept (accept() failed).",
            {"listener", "kind"});

inline constexpr Metric kUpstreamRequests =
    counter("penstock_upstream_requests_total",
            "Requests forwarded by the gateway, by upstream and status; none: no response.",
            {"upstream", "status"}, 1'000);
inline constexpr Metric kUpstreamLatency =
    histogram("penstock_upstream_latency_seconds", "Time until upstreams start their response.");
inline constexpr Metric kUpstreamRetries =
    counter("penstock_upstream_retries_total",
            "Requests sent again because a kept connection was closed, by upstream.", {"upstream"});
inline constexpr Metric kUpstreamInFlight =
    gauge("penstock_upstream_in_flight", "Requests in flight, by upstream.", {"upstream"});
inline constexpr Metric kUpstreamHealthyServers = gauge(
    "penstock_upstream_healthy_servers",
    "Healthy servers, by upstream; the minimum over all workers.", {"upstream"}, Merge::Least);
inline constexpr Metric kGatewaySharedLimitUnavailable =
    counter("penstock_gateway_local_fallback_total",
            "Requests limited only by this node because the store was unavailable for a permit.");
inline constexpr Metric kGatewayRejected = counter(
    "penstock_gateway_rejected_total",
    "Requests rejected by other than limits: no_route, client_in_flight, upstream_in_flight or "
    "no_healthy_upstream.",
    {"reason"});

inline constexpr Metric kLogLinesSuppressed =
    counter("penstock_log_lines_suppressed_total",
            "Warnings about requests dropped from the log because there were too many.");
inline constexpr Metric kBuildInfo =
    gauge("penstock_build_info", "Always 1; the label is the version.", {"version"});
inline constexpr Metric kWorkers = gauge("penstock_workers", "Worker event loops.");

// Named as in Prometheus client libraries.
inline constexpr Metric kProcessCpu =
    counter("process_cpu_seconds_total", "User and system CPU time.");
inline constexpr Metric kProcessMemory = gauge("process_resident_memory_bytes", "Resident memory.");
inline constexpr Metric kProcessFiles = gauge("process_open_fds", "Open file descriptors.");
inline constexpr Metric kProcessMaxFiles =
    gauge("process_max_fds", "Maximum number of open file descriptors.");

}  // namespace metrics

[[nodiscard]] std::span<const Metric* const> all_metrics() noexcept;

}  // namespace penstock::telemetry
