#pragma once

#include "service/local_share.hpp"
#include "service/membership.hpp"
#include "store/memory_store.hpp"
#include "telemetry/metrics.hpp"

// Numbers that are read when somebody looks at the metrics.
namespace penstock::service {

// REQUIRES: what is given outlives the source.
[[nodiscard]] telemetry::Metrics::Source memory_source(const store::MemoryStore& memory);
[[nodiscard]] telemetry::Metrics::Source membership_source(const Membership& members);
[[nodiscard]] telemetry::Metrics::Source outage_source(const LocalShare& local);

}  // namespace penstock::service
