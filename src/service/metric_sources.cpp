#include "service/metric_sources.hpp"

namespace penstock::service {

namespace metrics = telemetry::metrics;
using telemetry::Metrics;

Metrics::Source memory_source(const store::MemoryStore& memory) {
  return [&memory](const Metrics::Report& report) {
    const MemoryStats stats = memory.stats();
    report(metrics::kMemoryKeys, static_cast<double>(stats.keys));
    report(metrics::kMemoryBytes, static_cast<double>(stats.bytes));
    report(metrics::kMemoryBlocked, static_cast<double>(stats.blocked));
    report(metrics::kMemoryEvicted, static_cast<double>(stats.evicted));
    report(metrics::kMemoryForgiven, static_cast<double>(stats.forgiven));
  };
}

Metrics::Source membership_source(const Membership& members) {
  return [&members](const Metrics::Report& report) {
    report(metrics::kNodes, static_cast<double>(members.nodes()));
  };
}

}  // namespace penstock::service
