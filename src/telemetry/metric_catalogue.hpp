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

// One metric family; a test compares it with docs/metrics.md.
struct Metric {
  std::string_view name;
  MetricType type = MetricType::Counter;
  std::string_view help;
  std::array<std::string_view, 3> labels{};  // unused ones are empty
  std::size_t max_series = 200;              // beyond it, the last label is "other"
  Merge merge = Merge::Sum;
};

namespace metrics {

inline constexpr Metric kDecisions{
    .name = "penstock_decisions_total",
    .help =
        "Limit checks, by outcome: allowed, denied, blocked, shadow_denied, failed_open, "
        "failed_closed or local.",
    .labels = {"domain", "outcome", "rule"},
    .max_series = 10'000};
inline constexpr Metric kRequests{.name = "penstock_requests_total",
                                  .help = "Requests answered, by reason of the decision.",
                                  .labels = {"reason", "domain"},
                                  .max_series = 2'000};
inline constexpr Metric kFailedOpen{.name = "penstock_failed_open_total",
                                    .help = "Requests allowed because the store was unavailable."};
inline constexpr Metric kShadowDenied{.name = "penstock_shadow_denied_total",
                                      .help = "Denials by shadow limits (not enforced)."};

inline constexpr Metric kUnknownDomain{
    .name = "penstock_unknown_domain_requests_total",
    .help = "Requests that name a domain without rules, by decision: allowed or denied.",
    .labels = {"decision"}};

inline constexpr Metric kStoreLatency{.name = "penstock_store_latency_seconds",
                                      .type = MetricType::Histogram,
                                      .help = "Latency of store calls, including failed ones."};
inline constexpr Metric kStoreErrors{.name = "penstock_store_errors_total",
                                     .help = "Failed store calls, by kind of error.",
                                     .labels = {"kind"}};
inline constexpr Metric kStoreServing{
    .name = "penstock_store_serving",
    .type = MetricType::Gauge,
    .help =
        "1 while every worker can use the store; 0 while a circuit breaker is open or a "
        "connection is missing.",
    .merge = Merge::Least};
inline constexpr Metric kStoreRoundTrips{.name = "penstock_store_round_trips_total",
                                         .help = "Commands sent to Redis, including retries."};
inline constexpr Metric kStoreTimeouts{.name = "penstock_store_timeouts_total",
                                       .help = "Commands that Redis did not answer in time."};
inline constexpr Metric kStoreFastFails{
    .name = "penstock_store_fast_fails_total",
    .help = "Commands failed at once because a circuit breaker was open."};
inline constexpr Metric kStoreConnects{.name = "penstock_store_connects_total",
                                       .help = "Connections opened to Redis."};
inline constexpr Metric kScriptReloads{
    .name = "penstock_store_script_reloads_total",
    .help = "Scripts sent again because they were missing in the Redis script cache."};
inline constexpr Metric kDecidedByLease{
    .name = "penstock_lease_decisions_total",
    .help = "Limit checks decided from a lease, without a Redis call."};
inline constexpr Metric kDecidedByDenial{
    .name = "penstock_denial_cache_hits_total",
    .help = "Requests denied from the denial cache, without a Redis call."};
inline constexpr Metric kLeaseRequests{.name = "penstock_lease_requests_total",
                                       .help = "Leases requested from Redis."};
inline constexpr Metric kUnitsLeased{.name = "penstock_leased_units_total",
                                     .help = "Units leased from Redis."};
inline constexpr Metric kLeasedKeys{.name = "penstock_leased_keys",
                                    .type = MetricType::Gauge,
                                    .help = "Keys with a lease on this node."};
inline constexpr Metric kNodes{.name = "penstock_nodes",
                               .type = MetricType::Gauge,
                               .help = "Nodes that share the limits, as seen by this node."};
inline constexpr Metric kOutagePending{
    .name = "penstock_outage_unreconciled_keys",
    .type = MetricType::Gauge,
    .help = "Keys with units admitted during an outage and not yet reported to the store."};
inline constexpr Metric kOutageReported{
    .name = "penstock_outage_reconciled_units_total",
    .help = "Units admitted during an outage and later charged to the store."};
inline constexpr Metric kOutageLost{
    .name = "penstock_outage_lost_units_total",
    .help = "Units admitted during an outage and never charged to the store."};
inline constexpr Metric kOrphanKeys{
    .name = "penstock_orphan_keys",
    .type = MetricType::Gauge,
    .help =
        "Keys in Redis that never expire or that Penstock did not write, as of the last audit."};

inline constexpr Metric kMemoryKeys{.name = "penstock_memory_keys",
                                    .type = MetricType::Gauge,
                                    .help = "Keys in the embedded store."};
inline constexpr Metric kMemoryBytes{.name = "penstock_memory_bytes",
                                     .type = MetricType::Gauge,
                                     .help = "Memory used by the embedded store."};
inline constexpr Metric kMemoryBlocked{
    .name = "penstock_memory_blocked_keys",
    .type = MetricType::Gauge,
    .help = "Keys blocked by an operator in the embedded store."};
inline constexpr Metric kMemoryEvicted{.name = "penstock_memory_evicted_keys_total",
                                       .help = "Keys evicted because the embedded store was full."};
inline constexpr Metric kMemoryForgiven{
    .name = "penstock_memory_evicted_units_total",
    .help = "Units used by evicted keys, which can be admitted again."};

inline constexpr Metric kConfigReloads{
    .name = "penstock_config_reloads_total",
    .help = "Attempts to load the configuration, by result: ok or failed.",
    .labels = {"result"}};
inline constexpr Metric kConfigOk{
    .name = "penstock_config_last_reload_successful",
    .type = MetricType::Gauge,
    .help = "1 when the last attempt to load the configuration succeeded."};
inline constexpr Metric kConfigTime{
    .name = "penstock_config_last_reload_success_timestamp_seconds",
    .type = MetricType::Gauge,
    .help = "When the active configuration was loaded, in seconds since 1970."};
inline constexpr Metric kConfigHash{
    .name = "penstock_config_hash",
    .type = MetricType::Gauge,
    .help =
        "First 52 bits of a hash of the configuration; equal on nodes with equal configuration."};
inline constexpr Metric kConfigRules{
    .name = "penstock_config_rules", .type = MetricType::Gauge, .help = "Active rules."};

inline constexpr Metric kListenerConnections{.name = "penstock_listener_connections",
                                             .type = MetricType::Gauge,
                                             .help = "Open connections, by listener.",
                                             .labels = {"listener"}};
inline constexpr Metric kListenerAccepted{.name = "penstock_listener_accepted_connections_total",
                                          .help = "Connections accepted, by listener.",
                                          .labels = {"listener"}};
inline constexpr Metric kListenerRejected{
    .name = "penstock_listener_rejected_connections_total",
    .help = "Connections rejected because max_connections was reached.",
    .labels = {"listener"}};
inline constexpr Metric kListenerRejectedPerAddress{
    .name = "penstock_listener_rejected_per_address_total",
    .help = "Connections rejected because their IP address had max_connections_per_address open.",
    .labels = {"listener"}};
inline constexpr Metric kListenerRefundsIgnored{
    .name = "penstock_listener_refunds_ignored_total",
    .help = "Refunds (is_negative_hits) ignored because grpc.refunds does not allow them.",
    .labels = {"listener"}};
inline constexpr Metric kListenerRequests{.name = "penstock_listener_requests_total",
                                          .help = "Requests answered, by listener and status.",
                                          .labels = {"listener", "status"}};
inline constexpr Metric kListenerErrors{
    .name = "penstock_listener_errors_total",
    .help =
        "Connection errors, by listener and kind: timeout, tls, http (HTTP sent to the RESP "
        "listener) or accept (accept() failed).",
    .labels = {"listener", "kind"}};

inline constexpr Metric kUpstreamRequests{
    .name = "penstock_upstream_requests_total",
    .help = "Requests forwarded by the gateway, by upstream and status; none: no response.",
    .labels = {"upstream", "status"},
    .max_series = 1'000};
inline constexpr Metric kUpstreamLatency{.name = "penstock_upstream_latency_seconds",
                                         .type = MetricType::Histogram,
                                         .help = "Time until upstreams start their response."};
inline constexpr Metric kUpstreamRetries{
    .name = "penstock_upstream_retries_total",
    .help = "Requests sent again because a kept connection was closed, by upstream.",
    .labels = {"upstream"}};
inline constexpr Metric kUpstreamInFlight{.name = "penstock_upstream_in_flight",
                                          .type = MetricType::Gauge,
                                          .help = "Requests in flight, by upstream.",
                                          .labels = {"upstream"}};
inline constexpr Metric kUpstreamHealthyServers{
    .name = "penstock_upstream_healthy_servers",
    .type = MetricType::Gauge,
    .help = "Healthy servers, by upstream; the minimum over all workers.",
    .labels = {"upstream"},
    .merge = Merge::Least};
inline constexpr Metric kGatewaySharedLimitUnavailable{
    .name = "penstock_gateway_local_fallback_total",
    .help = "Requests limited only by this node because the store was unavailable for a permit."};
inline constexpr Metric kGatewayRejected{
    .name = "penstock_gateway_rejected_total",
    .help =
        "Requests rejected by other than limits: no_route, client_in_flight, upstream_in_flight or "
        "no_healthy_upstream.",
    .labels = {"reason"}};

inline constexpr Metric kLogLinesSuppressed{
    .name = "penstock_log_lines_suppressed_total",
    .help = "Warnings about requests dropped from the log because there were too many."};
inline constexpr Metric kBuildInfo{.name = "penstock_build_info",
                                   .type = MetricType::Gauge,
                                   .help = "Always 1; the label is the version.",
                                   .labels = {"version"}};
inline constexpr Metric kWorkers{
    .name = "penstock_workers", .type = MetricType::Gauge, .help = "Worker event loops."};

// Named as in Prometheus client libraries.
inline constexpr Metric kProcessCpu{.name = "process_cpu_seconds_total",
                                    .help = "User and system CPU time."};
inline constexpr Metric kProcessMemory{
    .name = "process_resident_memory_bytes", .type = MetricType::Gauge, .help = "Resident memory."};
inline constexpr Metric kProcessFiles{
    .name = "process_open_fds", .type = MetricType::Gauge, .help = "Open file descriptors."};
inline constexpr Metric kProcessMaxFiles{.name = "process_max_fds",
                                         .type = MetricType::Gauge,
                                         .help = "Maximum number of open file descriptors."};

}  // namespace metrics

[[nodiscard]] std::span<const Metric* const> all_metrics() noexcept;

}  // namespace penstock::telemetry
