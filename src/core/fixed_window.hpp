#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <algorithm>

namespace penstock::core {

// At most limit in each window. Windows are aligned to the epoch, or start at a key's first request
// (Algorithm::AnchoredWindow). Across a boundary up to 2 * limit can pass in one period.
//
// A window that lies in the future, because the clock stepped back, stays the current one: it is
// never counted afresh. One that lies more than a whole period ahead is moved to the present with
// its count. A window from which everything was refunded is no window.
//
// Thread-safety: stateless.
struct FixedWindow {
  static constexpr bool kIsBucket = false;
  static constexpr bool kCanLease = true;

  struct State {
    Instant end;
    std::uint32_t count = 0;

    friend constexpr bool operator==(const State&, const State&) = default;
  };

  // As TokenBucket::settle.
  [[nodiscard]] static constexpr bool settle(State& state, const Quota& quota,
                                             Instant now) noexcept {
    if (now >= state.end || state.count == 0) {
      state = {.end = window_end(quota, now), .count = 0};
      return false;
    }
    if (state.end - now <= 2 * quota.period()) return false;
    state.end = window_end(quota, now);
    return true;
  }

  // REQUIRES, here and below: the state is settled at `now`.
  [[nodiscard]] static constexpr Decision evaluate(const State& state, const Quota& quota,
                                                   Cost cost, Instant now) noexcept {
    return evaluate_within(state, quota, quota.limit(), cost, now);
  }

  // As evaluate(), for a request under another limit on usage that counts as `owner` says.
  [[nodiscard]] static constexpr Decision evaluate_within(const State& state,
                                                          const Quota& /*owner*/,
                                                          std::uint32_t limit, Cost cost,
                                                          Instant now) noexcept {
    const std::uint32_t remaining = limit - std::min(limit, state.count);
    const Duration until_end = state.end - now;
    const Duration reset_after = state.count > 0 ? until_end : Duration{0};
    if (cost.units > limit) return Decision::never_fits(limit, remaining, reset_after);
    if (std::max<std::uint64_t>(cost.units, 1) > remaining) {
      return Decision::deny(limit, remaining, reset_after, until_end);
    }
    if (cost.units == 0) return Decision::allow(limit, remaining, reset_after);
    return Decision::allow(limit, remaining - static_cast<std::uint32_t>(cost.units), until_end);
  }

  // REQUIRES: evaluate() allowed this cost on this state.
  static constexpr void commit(State& state, const Quota& /*quota*/, Cost cost,
                               Instant /*now*/) noexcept {
    state.count += static_cast<std::uint32_t>(cost.units);
  }

  static constexpr void refund(State& state, const Quota& /*quota*/, Cost cost,
                               Instant /*now*/) noexcept {
    state.count -= static_cast<std::uint32_t>(std::min<std::uint64_t>(cost.units, state.count));
  }

  [[nodiscard]] static constexpr Instant expires_at(const State& state,
                                                    const Quota& /*quota*/) noexcept {
    return state.end;
  }

  [[nodiscard]] static constexpr std::uint32_t used(const State& state, const Quota& /*quota*/,
                                                    Instant /*now*/) noexcept {
    return state.count;
  }

  // Until when usage that is taken now counts in full.
  [[nodiscard]] static constexpr Instant counts_until(const Quota& quota, Instant now) noexcept {
    return window_end(quota, now);
  }

  [[nodiscard]] static constexpr State with_used(std::uint32_t used, const Quota& quota,
                                                 Instant now) noexcept {
    return {.end = window_end(quota, now), .count = used};
  }

  // A first request before the end of an anchored window begins it: one unit less.
  [[nodiscard]] static constexpr std::uint64_t max_in_any_period(const Quota& quota) noexcept {
    return 2 * std::uint64_t{quota.limit()} -
           (quota.algorithm() == Algorithm::AnchoredWindow ? 1 : 0);
  }

  // How long the windows are that leased units are lost with, and when the current one ends.
  [[nodiscard]] static constexpr Duration lease_window(const Quota& quota) noexcept {
    return quota.period();
  }
  [[nodiscard]] static constexpr Instant lease_end(const State& state,
                                                   const Quota& /*quota*/) noexcept {
    return state.end;
  }

  [[nodiscard]] static constexpr Instant window_end(const Quota& quota, Instant now) noexcept {
    if (quota.algorithm() == Algorithm::AnchoredWindow) return now + quota.period();
    return now - now.time_since_epoch() % quota.period() + quota.period();
  }
};

}  // namespace penstock::core
