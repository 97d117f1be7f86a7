#pragma once

#include "penstock/quota.hpp"

#include <string>

namespace penstock::app {

// Explains the demo's row of this quota in one or two sentences. Holds for every quota that the
// demo accepts.
[[nodiscard]] std::string demo_caption(const Quota& quota);

}  // namespace penstock::app
