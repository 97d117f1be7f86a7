#pragma once

#include "penstock/quota.hpp"

#include <string>

namespace penstock::vectors {

// Short readable histories for each algorithm.
[[nodiscard]] std::string worked_examples(Algorithm algorithm);

}  // namespace penstock::vectors
