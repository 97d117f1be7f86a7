#pragma once

#include "penstock/quota.hpp"

namespace penstock::core {

// The part of one node: limit and burst divided by the nodes, rounded down, which favours what is
// protected; but one unit at least, or a small limit would deny everything: with more nodes than
// units, the nodes allow in total as many as there are nodes.
[[nodiscard]] Quota share_of(const Quota& quota, unsigned nodes);

}  // namespace penstock::core
