#include "telemetry/metric_catalogue.hpp"

namespace penstock::telemetry {

std::span<const Metric* const> all_metrics() noexcept {
  using namespace metrics;
  static constexpr std::array kAll{&kDecisions,       &kRequests,         &kFailedOpen,
                                   &kShadowDenied,    &kStoreLatency,     &kStoreErrors,
                                   &kStoreServing,    &kStoreRoundTrips,  &kStoreTimeouts,
                                   &kStoreFastFails,  &kStoreConnects,    &kScriptReloads,
                                   &kDecidedByLease,  &kDecidedByDenial,  &kLeasesAsked,
                                   &kUnitsLeased,     &kLeasedCounts,     &kNodes,
                                   &kOutageDebts,     &kOutageReported,   &kOutageLost,
                                   &kOrphanKeys,      &kMemoryKeys,       &kMemoryBytes,
                                   &kMemoryBlocked,   &kMemoryEvicted,    &kMemoryForgiven,
                                   &kConfigReloads,   &kConfigOk,         &kConfigTime,
                                   &kConfigHash,      &kConfigRules,      &kDoorConnections,
                                   &kDoorAccepted,    &kDoorRefused,      &kDoorRequests,
                                   &kDoorErrors,      &kUpstreamRequests, &kUpstreamLatency,
                                   &kUpstreamRetries, &kUpstreamInFlight, &kUpstreamWell,
                                   &kGatewayRefused,  &kGatewayUnshared,  &kLogLinesSuppressed,
                                   &kBuildInfo,       &kWorkers,          &kProcessCpu,
                                   &kProcessMemory,   &kProcessFiles,     &kProcessMostFiles};
  return kAll;
}

}  // namespace penstock::telemetry
