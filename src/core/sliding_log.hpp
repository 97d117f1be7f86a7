#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <vector>

namespace penstock::core {

// Remembers every admission for one period: never more than limit in any period, exactly. Requests
// of one microsecond share an entry with their summed cost, so a big cost needs no more room than a
// small one; still, memory grows with the limit, and Quota rejects limits above 10 000.
//
// Entries from the future, because the clock stepped back, count until they are a period old, and
// later admissions are stamped no earlier; when the newest is more than a period ahead, all entries
// from the future are stamped with the present instead.
//
// Thread-safety: stateless; a State belongs to its owner.
struct SlidingLog {
  static constexpr bool kIsBucket = false;
  static constexpr bool kCanLease = false;  // a unit counts from when it is spent

  struct Entry {
    Instant at;
    std::uint32_t weight = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  struct State {
    std::vector<Entry> entries;  // oldest first, instants strictly increasing
    std::size_t expired = 0;     // how many of them at the front no longer count
    std::uint32_t total = 0;     // weight of those that do

    friend bool operator==(const State&, const State&) = default;
  };

  // As TokenBucket::settle.
  [[nodiscard]] static bool settle(State& state, const Quota& quota, Instant now);

  // REQUIRES, here and below: the state is settled at `now`.
  [[nodiscard]] static Decision evaluate(const State& state, const Quota& quota, Cost cost,
                                         Instant now) noexcept;
  // As evaluate(), for a request under another limit on usage that counts as `owner` says.
  [[nodiscard]] static Decision evaluate_within(const State& state, const Quota& owner,
                                                std::uint32_t limit, Cost cost,
                                                Instant now) noexcept;
  // REQUIRES: evaluate() allowed this cost on this state.
  static void commit(State& state, const Quota& quota, Cost cost, Instant now);
  // Takes back the newest first.
  static void refund(State& state, const Quota& quota, Cost cost, Instant now) noexcept;

  [[nodiscard]] static Instant expires_at(const State& state, const Quota& quota) noexcept;
  [[nodiscard]] static std::uint32_t used(const State& state, const Quota& quota,
                                          Instant now) noexcept;
  // Until when usage that is taken now counts.
  [[nodiscard]] static Instant counts_until(const Quota& quota, Instant now) noexcept;
  [[nodiscard]] static State with_used(std::uint32_t used, const Quota& quota, Instant now);

  [[nodiscard]] static constexpr std::uint64_t max_in_any_period(const Quota& quota) noexcept {
    return quota.limit();
  }
};

}  // namespace penstock::core
