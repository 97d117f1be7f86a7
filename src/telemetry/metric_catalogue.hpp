#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::telemetry {

enum class MetricType : std::uint8_t { Counter, Gauge, Histogram };

// What the values of all workers make together.
enum class Merge : std::uint8_t {
  Sum,
  Least,  // 1 only if all say 1
};

// One family of series; docs/metrics.md lists them for people, and a test compares the two.
struct Metric {
  std::string_view name;
  MetricType type = MetricType::Counter;
  std::string_view help;
  std::array<std::string_view, 3> labels{};  // empty ones are none
  std::size_t max_series = 200;              // beyond it, the last series is called "other"
  Merge merge = Merge::Sum;
};

namespace metrics {

inline constexpr Metric kDecisions{
    .name = "penstock_decisions_total",
    .help =
        "Limits asked, by what they said: allowed, denied, blocked, shadow_denied, failed_open, "
        "failed_closed or local.",
    .labels = {"domain", "outcome", "rule"},
    .max_series = 10'000};
inline constexpr Metric kRequests{.name = "penstock_requests_total",
                                  .help = "Requests answered, by why they passed or not.",
                                  .labels = {"reason", "domain"},
                                  .max_series = 2'000};
inline constexpr Metric kFailedOpen{
    .name = "penstock_failed_open_total",
    .help = "Requests let through because the store could not be asked."};
inline constexpr Metric kShadowDenied{
    .name = "penstock_shadow_denied_total",
    .help = "Refusals of shadow limits, which nobody was told of."};

inline constexpr Metric kUnknownDomain{
    .name = "penstock_unknown_domain_requests_total",
    .help = "Requests that named a domain without rules, by decision: allowed or denied.",
    .labels = {"decision"}};

inline constexpr Metric kStoreLatency{.name = "penstock_store_latency_seconds",
                                      .type = MetricType::Histogram,
                                      .help = "How long the store took to answer, or to fail."};
inline constexpr Metric kStoreErrors{.name = "penstock_store_errors_total",
                                     .help = "Calls to the store that failed, by what went wrong.",
                                     .labels = {"kind"}};
inline constexpr Metric kStoreServing{
    .name = "penstock_store_serving",
    .type = MetricType::Gauge,
    .help =
        "1 while every worker can ask the store; 0 while a breaker is open or a connection is "
        "missing.",
    .merge = Merge::Least};
inline constexpr Metric kStoreRoundTrips{.name = "penstock_store_round_trips_total",
                                         .help = "Commands sent to Redis, retries included."};
inline constexpr Metric kStoreTimeouts{.name = "penstock_store_timeouts_total",
                                       .help = "Commands that Redis did not answer in time."};
inline constexpr Metric kStoreFastFails{
    .name = "penstock_store_fast_fails_total",
    .help = "Commands refused at once because a server was left alone for a while."};
inline constexpr Metric kStoreConnects{.name = "penstock_store_connects_total",
                                       .help = "Connections made to Redis."};
inline constexpr Metric kScriptReloads{
    .name = "penstock_store_script_reloads_total",
    .help = "Scripts sent again because Redis had forgotten them."};
inline constexpr Metric kDecidedByLease{
    .name = "penstock_lease_decisions_total",
    .help = "Limits decided out of what was leased, without a call."};
inline constexpr Metric kDecidedByDenial{
    .name = "penstock_denial_cache_hits_total",
    .help = "Requests refused without a call, because what the store had said still held."};
inline constexpr Metric kLeaseRequests{.name = "penstock_lease_requests_total",
                                       .help = "Leases asked for."};
inline constexpr Metric kUnitsLeased{.name = "penstock_leased_units_total",
                                     .help = "Units that were leased."};
inline constexpr Metric kLeasedKeys{.name = "penstock_leased_keys",
                                    .type = MetricType::Gauge,
                                    .help = "Counts of which something is leased now."};
inline constexpr Metric kNodes{.name = "penstock_nodes",
                               .type = MetricType::Gauge,
                               .help = "Nodes that share the limits, as this one knows."};
inline constexpr Metric kOutagePending{
    .name = "penstock_outage_unreconciled_keys",
    .type = MetricType::Gauge,
    .help = "Counts of which this node admitted units without the store, which it has yet to say."};
inline constexpr Metric kOutageReported{
    .name = "penstock_outage_reconciled_units_total",
    .help = "Units admitted without the store that it took afterwards."};
inline constexpr Metric kOutageLost{
    .name = "penstock_outage_lost_units_total",
    .help = "Units admitted without the store that it will never hear of."};
inline constexpr Metric kOrphanKeys{
    .name = "penstock_orphan_keys",
    .type = MetricType::Gauge,
    .help =
        "Keys in Redis that never expire, or that Penstock did not writ"
        "e, as the last audit found."};

inline constexpr Metric kMemoryKeys{.name = "penstock_memory_keys",
                                    .type = MetricType::Gauge,
                                    .help = "Counts that the embedded store remembers."};
inline constexpr Metric kMemoryBytes{.name = "penstock_memory_bytes",
                                     .type = MetricType::Gauge,
                                     .help = "Memory of the embedded store."};
inline constexpr Metric kMemoryBlocked{.name = "penstock_memory_blocked_keys",
                                       .type = MetricType::Gauge,
                                       .help = "Counts blocked by hand in the embedded store."};
inline constexpr Metric kMemoryEvicted{
    .name = "penstock_memory_evicted_keys_total",
    .help = "Counts that the embedded store forgot because it was full."};
inline constexpr Metric kMemoryForgiven{
    .name = "penstock_memory_evicted_units_total",
    .help = "Units that forgotten counts had used: so many may be admitted again."};

inline constexpr Metric kConfigReloads{.name = "penstock_config_reloads_total",
                                       .help = "Attempts to load the configuration: ok or failed.",
                                       .labels = {"result"}};
inline constexpr Metric kConfigOk{
    .name = "penstock_config_last_reload_successful",
    .type = MetricType::Gauge,
    .help = "1 when the last attempt to load the configuration succeeded."};
inline constexpr Metric kConfigTime{
    .name = "penstock_config_last_reload_success_timestamp_seconds",
    .type = MetricType::Gauge,
    .help = "When the configuration in force was loaded, in seconds since 1970."};
inline constexpr Metric kConfigHash{
    .name = "penstock_config_hash",
    .type = MetricType::Gauge,
    .help = "First 52 bits of a hash of the configuration: equal on nodes that agree."};
inline constexpr Metric kConfigRules{
    .name = "penstock_config_rules", .type = MetricType::Gauge, .help = "Rules in force."};

inline constexpr Metric kListenerConnections{.name = "penstock_listener_connections",
                                             .type = MetricType::Gauge,
                                             .help = "Connections open now, by listener.",
                                             .labels = {"listener"}};
inline constexpr Metric kListenerAccepted{.name = "penstock_listener_accepted_connections_total",
                                          .help = "Connections accepted, by listener.",
                                          .labels = {"listener"}};
inline constexpr Metric kListenerRejected{.name = "penstock_listener_rejected_connections_total",
                                          .help = "Connections closed because there were too many.",
                                          .labels = {"listener"}};
inline constexpr Metric kListenerRejectedPerAddress{
    .name = "penstock_listener_rejected_per_address_total",
    .help = "Connections closed because their IP address had max_connections_per_address already.",
    .labels = {"listener"}};
inline constexpr Metric kListenerRefundsIgnored{
    .name = "penstock_listener_refunds_ignored_total",
    .help =
        "Refunds (is_negative_hits) that were ignored because grpc.refunds does not allow them.",
    .labels = {"listener"}};
inline constexpr Metric kListenerRequests{.name = "penstock_listener_requests_total",
                                          .help = "Requests answered, by listener and status.",
                                          .labels = {"listener", "status"}};
inline constexpr Metric kListenerErrors{
    .name = "penstock_listener_errors_total",
    .help =
        "Connections that went wrong, by listener and kind: timeout, tls or http (HTTP sent to the "
        "RESP "
        "listener), for what the other side did; accept, where this process could take in no more.",
    .labels = {"listener", "kind"}};

inline constexpr Metric kUpstreamRequests{
    .name = "penstock_upstream_requests_total",
    .help = "Requests that the gateway forwarded, by upstream and status; none: no answer came.",
    .labels = {"upstream", "status"},
    .max_series = 1'000};
inline constexpr Metric kUpstreamLatency{.name = "penstock_upstream_latency_seconds",
                                         .type = MetricType::Histogram,
                                         .help = "How long upstreams took to begin their answer."};
inline constexpr Metric kUpstreamRetries{
    .name = "penstock_upstream_retries_total",
    .help = "Requests sent again because a kept connection was closed, by upstream.",
    .labels = {"upstream"}};
inline constexpr Metric kUpstreamInFlight{.name = "penstock_upstream_in_flight",
                                          .type = MetricType::Gauge,
                                          .help = "Requests under way now, by upstream.",
                                          .labels = {"upstream"}};
inline constexpr Metric kUpstreamHealthyServers{
    .name = "penstock_upstream_healthy_servers",
    .type = MetricType::Gauge,
    .help = "Servers that are asked, by upstream; the least that any worker sees.",
    .labels = {"upstream"},
    .merge = Merge::Least};
inline constexpr Metric kGatewaySharedLimitUnavailable{
    .name = "penstock_gateway_local_fallback_total",
    .help =
        "Requests that only the limit of this node counted, because the store could not be asked "
        "for a permit."};
inline constexpr Metric kGatewayRejected{
    .name = "penstock_gateway_rejected_total",
    .help =
        "Requests refused besides limits: no_route, client_in_flight, upstream_in_flight or "
        "no_healthy_upstream.",
    .labels = {"reason"}};

inline constexpr Metric kLogLinesSuppressed{
    .name = "penstock_log_lines_suppressed_total",
    .help = "Warnings about requests that were left out of the log because there were too many."};
inline constexpr Metric kBuildInfo{.name = "penstock_build_info",
                                   .type = MetricType::Gauge,
                                   .help = "Always 1; the labels say what runs here.",
                                   .labels = {"version"}};
inline constexpr Metric kWorkers{
    .name = "penstock_workers", .type = MetricType::Gauge, .help = "Event loops."};

// Under the names that every Prometheus client library uses.
inline constexpr Metric kProcessCpu{.name = "process_cpu_seconds_total",
                                    .help = "Processor time used, user and system."};
inline constexpr Metric kProcessMemory{
    .name = "process_resident_memory_bytes", .type = MetricType::Gauge, .help = "Resident memory."};
inline constexpr Metric kProcessFiles{
    .name = "process_open_fds", .type = MetricType::Gauge, .help = "Open file descriptors."};
inline constexpr Metric kProcessMaxFiles{.name = "process_max_fds",
                                         .type = MetricType::Gauge,
                                         .help = "How many file descriptors may be open."};

}  // namespace metrics

// All of the above.
[[nodiscard]] std::span<const Metric* const> all_metrics() noexcept;

}  // namespace penstock::telemetry
