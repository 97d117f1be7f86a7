#pragma once

#include "penstock/quota.hpp"

#include <string>

namespace penstock::vectors {

// Short histories that a person can follow, for each algorithm.
[[nodiscard]] std::string worked_examples(Algorithm algorithm);

}  // namespace penstock::vectors
