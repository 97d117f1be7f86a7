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

// Named atomic counters. Integers and decimals are independent: one name can have one of each.
//
// A counter with a lifetime starts it when it is created and expires when it ends; later additions
// do not extend it. Without a lifetime it stays until reset.
//
// Thread-safety: all members, from any thread. Never throws. A cheap handle, valid as long as its
// Limiter.
class Counters {
 public:
  explicit Counters(store::CounterTable& store) noexcept : store_(&store) {}

  // Returns the new value. Overflow and a full table are errors and change nothing.
  Result<std::int64_t> add(std::string_view name, std::int64_t delta,
                           std::optional<Duration> lifetime = {}) noexcept;
  Result<Decimal> add(std::string_view name, Decimal delta,
                      std::optional<Duration> lifetime = {}) noexcept;

  // Zero for a counter that does not exist.
  [[nodiscard]] std::int64_t get(std::string_view name) const noexcept;
  [[nodiscard]] Decimal get_decimal(std::string_view name) const noexcept;

  // Removes the integer and the decimal of this name. Returns whether one existed.
  bool reset(std::string_view name) noexcept;

 private:
  store::CounterTable* store_;
};

}  // namespace penstock
