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

// Decides whether requests may pass, on the embedded store.
//
// Thread-safety: all members, from any thread. Starts no thread, prints nothing, and no member
// throws; the constructor throws std::invalid_argument for options that cannot work.
class Limiter {
 public:
  Limiter() : Limiter(MemoryOptions{}) {}
  explicit Limiter(const MemoryOptions& options);
  ~Limiter();
  Limiter(Limiter&&) noexcept;
  Limiter& operator=(Limiter&&) noexcept;

  // One limit. A cost of 0 looks without taking, and is allowed when a cost of 1 would be.
  [[nodiscard]] Decision check(std::string_view key, const Quota& quota, Cost cost = {}) noexcept;

  // Several limits for one key: all pass, or nothing is taken from any. The strictest answers:
  // of those that refuse, the one to wait for longest; else the one with the least remaining.
  // Limits::name_of(decision) names it.
  [[nodiscard]] Decision check(std::string_view key, const Limits& limits, Cost cost = {}) noexcept;

  // Several limits under keys of their own, decided the same way; decided_by() is the position in
  // the list. `each`, when given, receives what every single limit said. REQUIRES: it is as
  // long, or empty.
  [[nodiscard]] Decision check_all(std::span<const Check> checks,
                                   std::span<Decision> each = {}) noexcept;
  [[nodiscard]] Decision check_all(std::initializer_list<Check> checks) noexcept {
    return check_all(std::span<const Check>(checks.begin(), checks.size()));
  }

  // Many requests that have nothing to do with each other, as if asked one after the other at one
  // instant, but faster. REQUIRES: decisions is as long as checks.
  void check_each(std::span<const Check> checks, std::span<Decision> decisions) noexcept;

  // Looks without taking.
  [[nodiscard]] Decision peek(std::string_view key, const Quota& quota) noexcept {
    return check(key, quota, Cost{0});
  }
  [[nodiscard]] Decision peek(std::string_view key, const Limits& limits) noexcept {
    return check(key, limits, Cost{0});
  }

  // Gives back what an admitted request took, newest first and no more than is used. Returns the
  // state afterwards, as peek does.
  Decision refund(std::string_view key, const Quota& quota, Cost cost = {}) noexcept;
  Decision refund(std::string_view key, const Limits& limits, Cost cost = {}) noexcept;

  // Forgets what the key has used. Returns whether there was anything. A block stays.
  bool reset(std::string_view key) noexcept;
  bool reset(std::string_view key, const Limits& limits) noexcept;

  // Refuses everything for this key for a while, 100 years at the most, whatever its limits say.
  // Blocking again replaces the time, and a time of zero or less unblocks; what the key has used is
  // kept.
  void block(std::string_view key, Duration duration) noexcept;
  bool unblock(std::string_view key) noexcept;

  [[nodiscard]] Counters counters() noexcept;

  [[nodiscard]] MemoryStats stats() const noexcept;

  // Drops what has expired, looking at so many entries; for idle moments. The store also does this
  // a little at a time whenever a new key comes. Returns how many were dropped.
  std::size_t sweep(std::size_t entries) noexcept;

 private:
  std::unique_ptr<store::ShardedTable> store_;
};

}  // namespace penstock
