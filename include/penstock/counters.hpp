#pragma once

#include "penstock/decimal.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock {

namespace store {
class CounterTable;
}

// Named numbers that many threads may change at once; nothing is lost, nothing is read half
// written. Integers and decimals are kept apart: the same name can stand for one of each.
//
// A counter with a lifetime starts it when it is created, and is gone when it ends; later additions
// do not prolong it. Without one it stays until reset.
//
// Thread-safety: all members, from any thread. Never throws. A cheap handle: valid as long as the
// Limiter it came from.
class Counters {
 public:
  explicit Counters(store::CounterTable& store) noexcept : store_(&store) {}

  // The value afterwards. Overflow and a full table are errors, and change nothing.
  Result<std::int64_t> add(std::string_view name, std::int64_t delta,
                           std::optional<Duration> lifetime = {}) noexcept;
  Result<Decimal> add(std::string_view name, Decimal delta,
                      std::optional<Duration> lifetime = {}) noexcept;

  // Zero for a counter that nobody has added to.
  [[nodiscard]] std::int64_t get(std::string_view name) const noexcept;
  [[nodiscard]] Decimal get_decimal(std::string_view name) const noexcept;

  // Forgets both the integer and the decimal of this name. Returns whether there was one.
  bool reset(std::string_view name) noexcept;

 private:
  store::CounterTable* store_;
};

}  // namespace penstock
