#pragma once

#include "penstock/quota.hpp"

#include <cstdint>

namespace penstock::core {

// The part of one node: limit and burst divided by the nodes, rounded down, which favours what is
// protected; but one unit at least, or a small limit would deny everything: with more nodes than
// units, the nodes allow in total as many as there are nodes.
[[nodiscard]] Quota share_of(const Quota& quota, unsigned nodes);

// The most units that can pass in any time of one period, wherever it begins. Buckets admit a burst
// and then what flows in meanwhile; windows may be used up just before and just after one ends
// (docs/explanation/algorithms.md).
[[nodiscard]] std::uint64_t max_in_any_period(const Quota& quota);

}  // namespace penstock::core
