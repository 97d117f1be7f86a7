#pragma once

#include "base/wide.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <algorithm>

namespace penstock::core {

// Two counters: this window's, and the last one's weighted by the part of it that a period ending
// now still covers. Up to 2 * limit - 1 can pass in one period; over long times limit per period.
//
// Everything is compared after multiplying by the period, so there is no division to round.
// A window that lies in the future, because the clock stepped back, stays the current one with the
// previous counted in full; one more than a period ahead is moved to the present.
//
// Thread-safety: stateless.
struct SlidingCounter {
  static constexpr bool kIsBucket = false;
  static constexpr bool kCanLease = false;  // a unit counts from when it is spent

  struct State {
    Instant start;  // of the current window; a multiple of the period
    std::uint32_t current = 0;
    std::uint32_t previous = 0;

    friend constexpr bool operator==(const State&, const State&) = default;
  };

  // As TokenBucket::settle.
  [[nodiscard]] static constexpr bool settle(State& state, const Quota& quota,
                                             Instant now) noexcept {
    const Instant window = now - now.time_since_epoch() % quota.period();
    if (state.start >= window) {
      if (state.start - now <= quota.period()) return false;
      state.start = window;
      return true;
    }
    const bool was_last = state.start + quota.period() == window;
    state = {.start = window, .current = 0, .previous = was_last ? state.current : 0};
    return false;
  }

  // REQUIRES, here and below: the state is settled at `now`.
  [[nodiscard]] static constexpr Decision evaluate(const State& state, const Quota& quota,
                                                   Cost cost, Instant now) noexcept {
    return evaluate_within(state, quota, quota.limit(), cost, now);
  }

  // As evaluate(), for a request under another limit on usage that counts as `owner` says.
  [[nodiscard]] static constexpr Decision evaluate_within(const State& state, const Quota& owner,
                                                          std::uint32_t limit, Cost cost,
                                                          Instant now) noexcept {
    const std::uint64_t counted =
        std::uint64_t{state.current} + weighted_previous(state, owner, now);
    const std::uint32_t remaining =
        limit - static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, counted));
    if (cost.units > limit) {
      return Decision::never_fits(limit, remaining, reset_after(state, owner, now));
    }
    const auto asked = std::max(static_cast<std::uint32_t>(cost.units), 1U);
    if (asked > remaining) {
      return Decision::deny(limit, remaining, reset_after(state, owner, now),
                            retry_after(state, owner, limit - asked, now));
    }
    State after = state;
    after.current += static_cast<std::uint32_t>(cost.units);
    return Decision::allow(limit, remaining - static_cast<std::uint32_t>(cost.units),
                           reset_after(after, owner, now));
  }

  // REQUIRES: evaluate() allowed this cost on this state.
  static constexpr void commit(State& state, const Quota& /*quota*/, Cost cost,
                               Instant /*now*/) noexcept {
    state.current += static_cast<std::uint32_t>(cost.units);
  }

  // Takes back the newest first.
  static constexpr void refund(State& state, const Quota& /*quota*/, Cost cost,
                               Instant /*now*/) noexcept {
    const std::uint64_t from_current = std::min<std::uint64_t>(cost.units, state.current);
    const std::uint64_t from_previous =
        std::min<std::uint64_t>(cost.units - from_current, state.previous);
    state.current -= static_cast<std::uint32_t>(from_current);
    state.previous -= static_cast<std::uint32_t>(from_previous);
  }

  [[nodiscard]] static constexpr Instant expires_at(const State& state,
                                                    const Quota& quota) noexcept {
    return state.start + (state.current > 0 ? 2 : 1) * quota.period();
  }

  [[nodiscard]] static constexpr std::uint32_t used(const State& state, const Quota& quota,
                                                    Instant now) noexcept {
    return state.current + weighted_previous(state, quota, now);
  }

  // Until when usage that is taken now counts in full; after that, weighted.
  [[nodiscard]] static constexpr Instant counts_until(const Quota& quota, Instant now) noexcept {
    return now - now.time_since_epoch() % quota.period() + quota.period();
  }

  [[nodiscard]] static constexpr State with_used(std::uint32_t used, const Quota& quota,
                                                 Instant now) noexcept {
    return {.start = now - now.time_since_epoch() % quota.period(), .current = used, .previous = 0};
  }

  [[nodiscard]] static constexpr std::uint64_t max_in_any_period(const Quota& quota) noexcept {
    return 2 * std::uint64_t{quota.limit()} - 1;
  }

 private:
  [[nodiscard]] static constexpr Duration elapsed(const State& state, Instant now) noexcept {
    return std::max(now - state.start, Duration{0});
  }

  // previous * (period - elapsed) / period, rounded up: against the key.
  [[nodiscard]] static constexpr std::uint32_t weighted_previous(const State& state,
                                                                 const Quota& quota,
                                                                 Instant now) noexcept {
    const auto period = static_cast<std::uint64_t>(quota.period().count());
    const auto left = static_cast<std::uint64_t>((quota.period() - elapsed(state, now)).count());
    const base::Wide weighted = static_cast<base::Wide>(state.previous) * left;
    return static_cast<std::uint32_t>((weighted + period - 1) / period);
  }

  [[nodiscard]] static constexpr Duration reset_after(const State& state, const Quota& quota,
                                                      Instant now) noexcept {
    if (state.current == 0 && state.previous == 0) return Duration{0};
    return expires_at(state, quota) - now;
  }

  // Until no more than `room` is used. REQUIRES: more is used now.
  [[nodiscard]] static constexpr Duration retry_after(const State& state, const Quota& quota,
                                                      std::uint32_t room, Instant now) noexcept {
    const Duration period = quota.period();
    const auto wide_period = static_cast<base::Wide>(period.count());
    if (state.current <= room) {
      // later in this window, when enough of the previous one has slid out
      const auto covered =
          static_cast<std::int64_t>((room - state.current) * wide_period / state.previous);
      return state.start + period - Duration{covered} - now;
    }
    // in the next window, where today's current is the previous one
    const auto covered = static_cast<std::int64_t>(room * wide_period / state.current);
    return state.start + 2 * period - Duration{covered} - now;
  }
};

}  // namespace penstock::core
