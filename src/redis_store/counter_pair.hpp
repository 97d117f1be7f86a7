#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <optional>

namespace penstock::redis_store {

// The counters of one name in Redis: each value if it exists, and the longest lifetime; empty: no
// expiry.
struct CounterPair {
  std::optional<std::int64_t> integer{};
  std::optional<std::int64_t> decimal{};
  std::optional<Duration> lifetime{};
};

}  // namespace penstock::redis_store
