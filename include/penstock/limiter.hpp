#pragma once

#include "penstock/check.hpp"
#include "penstock/counters.hpp"
#include "penstock/decision.hpp"
#include "penstock/limits.hpp"
#include "penstock/memory_options.hpp"
#include "penstock/quota.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

namespace penstock {

namespace store {
class ShardedTable;
}

// Rate limiter on the memory store of this process.
//
// Thread-safety: all members, from any thread. Starts no thread, prints nothing, and no member
// throws; the constructor throws std::invalid_argument for invalid options.
class Limiter {
 public:
  Limiter() : Limiter(MemoryOptions{}) {}
  explicit Limiter(const MemoryOptions& options);
  ~Limiter();
  Limiter(Limiter&&) noexcept;
  Limiter& operator=(Limiter&&) noexcept;

  // One limit. A cost of 0 is a peek: allowed when a cost of 1 would be, and nothing is charged.
  [[nodiscard]] Decision check(std::string_view key, const Quota& quota, Cost cost = {}) noexcept;

  // Several limits for one key, all or nothing: all pass, or none is charged. Returns the strictest
  // decision: of the denials, the longest wait; otherwise the least remaining.
  // Limits::name_of(decision) names its limit.
  [[nodiscard]] Decision check(std::string_view key, const Limits& limits, Cost cost = {}) noexcept;

  // The same for limits with different keys; decided_by() is the position in the list. `each`, when
  // given, receives the decision of each limit. REQUIRES: it is as long as the list, or empty.
  [[nodiscard]] Decision check_all(std::span<const Check> checks,
                                   std::span<Decision> each = {}) noexcept;
  [[nodiscard]] Decision check_all(std::initializer_list<Check> checks) noexcept {
    return check_all(std::span<const Check>(checks.begin(), checks.size()));
  }

  // Independent requests, decided in order at one instant; faster than single calls. REQUIRES:
  // decisions is as long as checks.
  void check_each(std::span<const Check> checks, std::span<Decision> decisions) noexcept;

  // Decides without charging.
  [[nodiscard]] Decision peek(std::string_view key, const Quota& quota) noexcept {
    return check(key, quota, Cost{0});
  }
  [[nodiscard]] Decision peek(std::string_view key, const Limits& limits) noexcept {
    return check(key, limits, Cost{0});
  }

  // Refunds the cost of an admitted request, newest usage first, at most the current usage. Returns
  // the state afterwards, as peek does.
  Decision refund(std::string_view key, const Quota& quota, Cost cost = {}) noexcept;
  Decision refund(std::string_view key, const Limits& limits, Cost cost = {}) noexcept;

  // Removes all usage of the key. Returns whether there was any. A block stays.
  bool reset(std::string_view key) noexcept;
  bool reset(std::string_view key, const Limits& limits) noexcept;

  // Denies every request of this key for this time, at most 100 years, whatever its limits say.
  // Blocking again replaces the time; zero or less unblocks. Usage is kept.
  void block(std::string_view key, Duration duration) noexcept;
  bool unblock(std::string_view key) noexcept;

  [[nodiscard]] Counters counters() noexcept;

  [[nodiscard]] MemoryStats stats() const noexcept;

  // Drops expired keys, visiting this number of entries; for idle moments. The store also does this
  // in small steps when keys are added. Returns how many were dropped.
  std::size_t sweep(std::size_t entries) noexcept;

 private:
  std::unique_ptr<store::ShardedTable> store_;
};

}  // namespace penstock
