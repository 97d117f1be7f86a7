#pragma once

#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/metrics.hpp"

// Numbers that are read when somebody looks at the metrics.
namespace penstock::service {

// REQUIRES: what is given outlives the source.
[[nodiscard]] telemetry::Metrics::Source memory_source(const store::ShardedTable& memory);
[[nodiscard]] telemetry::Metrics::Source membership_source(const Membership& members);
[[nodiscard]] telemetry::Metrics::Source outage_source(const LocalFallback& local);

}  // namespace penstock::service
