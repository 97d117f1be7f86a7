#pragma once

#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/metrics.hpp"

// Metrics that are read when they are scraped.
namespace penstock::service {

// REQUIRES: the arguments outlive the source.
[[nodiscard]] telemetry::Metrics::Source memory_source(const store::ShardedTable& memory);
[[nodiscard]] telemetry::Metrics::Source membership_source(const Membership& members);
[[nodiscard]] telemetry::Metrics::Source outage_source(const LocalFallback& local);

}  // namespace penstock::service
