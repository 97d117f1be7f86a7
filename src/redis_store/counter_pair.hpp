#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <optional>

namespace penstock::redis_store {

// What Redis holds under one name: each number if it is there, and how long the last of them has to
// live; empty: as long as it is wanted.
struct CounterPair {
  std::optional<std::int64_t> integer{};
  std::optional<std::int64_t> decimal{};
  std::optional<Duration> lifetime{};
};

}  // namespace penstock::redis_store
