#pragma once

#include "penstock/decimal.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock {

namespace redis_store {
class BlockingStore;
}

// Counters, shared in Redis: the same contract, and every call can fail.
//
// A counter without a lifetime expires a year after the last addition.
//
// Thread-safety: all members, from any thread. A cheap handle, valid as long as its SharedLimiter.
class SharedCounters {
 public:
  explicit SharedCounters(redis_store::BlockingStore& store) noexcept : store_(&store) {}

  Result<std::int64_t> add(std::string_view name, std::int64_t delta,
                           std::optional<Duration> lifetime = {});
  Result<Decimal> add(std::string_view name, Decimal delta, std::optional<Duration> lifetime = {});
  [[nodiscard]] Result<std::int64_t> get(std::string_view name) const;
  [[nodiscard]] Result<Decimal> get_decimal(std::string_view name) const;
  Result<bool> reset(std::string_view name);

 private:
  redis_store::BlockingStore* store_;
};

}  // namespace penstock
