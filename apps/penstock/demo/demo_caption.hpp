#pragma once

#include "penstock/quota.hpp"

#include <string>

namespace penstock::app {

// What there is to see in the demo's row of this quota, in a sentence or two. True for every quota
// that the demo accepts.
[[nodiscard]] std::string demo_caption(const Quota& quota);

}  // namespace penstock::app
