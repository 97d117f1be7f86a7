#pragma once

#include "penstock/decimal.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <cstdint>

namespace penstock::core {

// The part of one node: limit and burst divided by the nodes, rounded down, which favours what is
// protected; but one unit at least, or a small limit would deny everything: with more nodes than
// units, the nodes allow in total as many as there are nodes.
[[nodiscard]] Quota share_of(const Quota& quota, unsigned nodes);

// Limit and burst times the factor, rounded down, but one unit at least. A limit of 0 stays. Fails
// when the product is no valid quota; the error names it. REQUIRES: factor > 0.
[[nodiscard]] Result<Quota> multiplied(const Quota& quota, Decimal factor);

// The most units that can pass in any time of one period, wherever it begins. Buckets admit a burst
// and then what flows in meanwhile; windows may be used up just before and just after one ends
// (docs/explanation/algorithms.md).
[[nodiscard]] std::uint64_t max_in_any_period(const Quota& quota);

}  // namespace penstock::core
