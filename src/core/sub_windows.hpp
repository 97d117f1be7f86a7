#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <vector>

namespace penstock::core {

// The period cut into n parts, a counter each. What counts are the n + 1 parts that a period ending
// now touches, the oldest in full: never more than limit in any period, at the price of admitting
// up to 1/(n + 1) less than the limit under steady load.
//
// A newest part that lies in the future, because the clock stepped back, stays the newest; one more
// than a period ahead is moved to the present.
//
// Thread-safety: stateless; a State belongs to its owner.
struct SubWindows {
  static constexpr bool kIsBucket = false;
  static constexpr bool kCanLease = true;

  struct State {
    std::int64_t newest = 0;            // part number: instant / (period / n)
    std::vector<std::uint32_t> counts;  // n + 1 of them, oldest first; empty when nothing is used

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

  // As FixedWindow::lease_window and lease_end: of one part.
  [[nodiscard]] static constexpr Duration lease_window(const Quota& quota) noexcept {
    return quota.period() / quota.sub_window_count();
  }
  [[nodiscard]] static Instant lease_end(const State& state, const Quota& quota) noexcept {
    return Instant{(state.newest + 1) * lease_window(quota)};
  }
};

}  // namespace penstock::core
