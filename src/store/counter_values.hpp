#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <optional>

namespace penstock::store {

// Decimals are counted in billionths (penstock/decimal.hpp).
enum class CounterKind : std::uint8_t { Integer, Decimal };

// The counters of one name, each if it exists. `lifetime` is that of the one that expires last;
// empty when it never expires.
struct CounterValues {
  std::optional<std::int64_t> integer{};
  std::optional<std::int64_t> decimal{};
  std::optional<Duration> lifetime{};
};

enum class ExpireCondition : std::uint8_t { Always, IfPersistent };

}  // namespace penstock::store
