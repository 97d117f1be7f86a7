#include "service/metric_sources.hpp"

namespace penstock::service {

namespace metrics = telemetry::metrics;
using telemetry::Metrics;

Metrics::Source memory_source(const store::ShardedTable& memory) {
  return [&memory](const Metrics::Report& report) {
    const MemoryStats stats = memory.stats();
    report(metrics::kMemoryKeys, static_cast<double>(stats.keys));
    report(metrics::kMemoryBytes, static_cast<double>(stats.bytes));
    report(metrics::kMemoryBlocked, static_cast<double>(stats.blocked));
    report(metrics::kMemoryEvicted, static_cast<double>(stats.evicted));
    report(metrics::kMemoryForgiven, static_cast<double>(stats.evicted_usage));
  };
}

Metrics::Source membership_source(const Membership& members) {
  return [&members](const Metrics::Report& report) {
    report(metrics::kNodes, static_cast<double>(members.nodes()));
  };
}

Metrics::Source outage_source(const LocalFallback& local) {
  return [&local](const Metrics::Report& report) {
    const OutageLedger::Totals numbers = local.ledger().totals();
    report(metrics::kOutagePending, static_cast<double>(numbers.names));
    report(metrics::kOutageReported, static_cast<double>(numbers.reported));
    report(metrics::kOutageLost, static_cast<double>(numbers.lost));
  };
}

}  // namespace penstock::service
