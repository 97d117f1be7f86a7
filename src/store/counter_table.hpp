#pragma once

#include "base/spin_lock.hpp"
#include "penstock/clock.hpp"
#include "penstock/decimal.hpp"
#include "penstock/result.hpp"
#include "store/key_hasher.hpp"
#include "store/stores.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace penstock::store {

// The counters of the memory store. See penstock::Counters for the contract.
//
// Thread-safety: all members, from any thread.
class CounterTable {
 public:
  CounterTable(const KeyHasher& hasher, const Clock& clock, std::uint64_t max_counters) noexcept
      : hasher_(hasher), clock_(clock), max_counters_(max_counters) {}

  Result<std::int64_t> add(std::string_view name, std::int64_t delta,
                           std::optional<Duration> lifetime);
  Result<Decimal> add(std::string_view name, Decimal delta, std::optional<Duration> lifetime);
  [[nodiscard]] std::int64_t get(std::string_view name);
  [[nodiscard]] Decimal get_decimal(std::string_view name);
  bool reset(std::string_view name);

  [[nodiscard]] CounterValues read(std::string_view name);
  // Sets the lifetime of both counters. Returns whether one existed. REQUIRES: lifetime > 0.
  bool expire(std::string_view name, Duration lifetime, ExpireCondition condition);

 private:
  struct Counter {
    std::int64_t value = 0;
    Instant ends = Instant::max();
  };
  struct alignas(64) Part {
    base::SpinLock lock;
    std::unordered_map<Hash128, Counter, Hash128Bucket> counters PENSTOCK_GUARDED_BY(lock);
    std::size_t swept PENSTOCK_GUARDED_BY(lock) = 0;
    Instant latest PENSTOCK_GUARDED_BY(lock){};  // time never runs backwards in a part
    Instant soonest_end PENSTOCK_GUARDED_BY(lock) = Instant::max();  // none ends before

    Instant advance_to(Instant now) PENSTOCK_REQUIRES(lock) {
      return latest = std::max(latest, now);
    }
  };

  [[nodiscard]] Part& part_of(const Hash128& hash) { return parts_[hash.high % parts_.size()]; }
  Result<std::int64_t> add(const Hash128& hash, std::string_view name, std::int64_t delta,
                           std::optional<Duration> lifetime);
  // The value afterwards; empty when there is no place for another counter.
  std::optional<Result<std::int64_t>> try_add(const Hash128& hash, std::string_view name,
                                              std::int64_t delta, std::optional<Duration> lifetime);
  struct Found {
    std::int64_t value = 0;
    Duration left{};  // max() for no end
  };
  [[nodiscard]] std::optional<Found> find(const Hash128& hash);
  bool expire(const Hash128& hash, Duration lifetime, ExpireCondition condition);
  bool reset(const Hash128& hash);
  // Drops counters that have ended until there is a place, wherever they are.
  void make_room();
  [[nodiscard]] bool reserve_slot() noexcept;
  void sweep_some(Part& part, Instant now) PENSTOCK_REQUIRES(part.lock);
  void sweep_all(Part& part, Instant now) PENSTOCK_REQUIRES(part.lock);

  const KeyHasher& hasher_;
  const Clock& clock_;
  std::uint64_t max_counters_;
  // relaxed: only a bound for new counters
  std::atomic<std::uint64_t> count_{0};
  std::array<Part, 64> parts_;
};

}  // namespace penstock::store
