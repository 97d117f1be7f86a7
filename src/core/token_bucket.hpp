#pragma once

#include "core/bucket_meter.hpp"

namespace penstock::core {

// A bucket that holds up to burst tokens and refills evenly at limit / period. Kept as the exact
// instant at which it will be full and the last instant it was looked at; the tokens in it are what
// has refilled by then. Absent, zero and long full are the same state.
//
// A clock that steps back neither refills nor drains: time stands still for the bucket until the
// clock has caught up, or for as long as a whole refill takes, whichever is sooner.
//
// Thread-safety: stateless. tests/vectors has its answers for other implementations to replay.
struct TokenBucket {
  static constexpr bool kIsBucket = true;
  static constexpr bool kCanLease = true;

  struct State {
    ExactSpan full_at;
    Instant last;

    friend constexpr bool operator==(const State&, const State&) = default;
  };

  // Bounds what a clock that stepped back can hold against the key. Returns whether the state must
  // be written even when the request is denied.
  [[nodiscard]] static constexpr bool settle(State& state, const Quota& quota,
                                             Instant now) noexcept {
    bool changed = false;
    const Duration behind = state.last - now;
    if (behind > ceil_micros(quota.fill_time())) [[unlikely]] {
      state.full_at.whole -= std::min<std::int64_t>(behind.count(), state.full_at.whole);
      state.last = now;
      changed = true;
    }
    const ExactSpan latest =
        bucket_meter::instant_after(effective(state, now), quota.fill_time(), quota);
    if (state.full_at > latest) [[unlikely]] {
      state.full_at = latest;
      changed = true;
    }
    return changed;
  }

  [[nodiscard, gnu::always_inline]] static constexpr Decision evaluate(const State& state,
                                                                       const Quota& quota,
                                                                       Cost cost,
                                                                       Instant now) noexcept {
    const Instant at = effective(state, now);
    return bucket_meter::evaluate(bucket_meter::level_at(state.full_at, quota, at), quota, cost,
                                  at - now);
  }

  // As evaluate(), for a request under a quota with this capacity on usage that drains as `owner`
  // says. Allows a cost as if nothing were taken yet.
  [[nodiscard]] static constexpr Decision evaluate_within(const State& state, const Quota& owner,
                                                          std::uint32_t capacity, Cost cost,
                                                          Instant now) noexcept {
    const Instant at = effective(state, now);
    return bucket_meter::evaluate_within(bucket_meter::level_at(state.full_at, owner, at), owner,
                                         capacity, cost, at - now);
  }

  // REQUIRES: evaluate() allowed this cost on this state.
  [[gnu::always_inline]] static constexpr void commit(State& state, const Quota& quota, Cost cost,
                                                      Instant now) noexcept {
    const Instant at = effective(state, now);
    state = {.full_at = bucket_meter::take(bucket_meter::level_at(state.full_at, quota, at), quota,
                                           cost, at),
             .last = at};
  }

  static constexpr void refund(State& state, const Quota& quota, Cost cost, Instant now) noexcept {
    const Instant at = effective(state, now);
    state = {.full_at = bucket_meter::refund(bucket_meter::level_at(state.full_at, quota, at),
                                             quota, cost, at),
             .last = at};
  }

  // From here on the state says no more than an absent one.
  [[nodiscard]] static constexpr Instant expires_at(const State& state,
                                                    const Quota& /*quota*/) noexcept {
    return std::max(bucket_meter::expires_at(state.full_at), state.last);
  }

  [[nodiscard]] static constexpr std::uint32_t used(const State& state, const Quota& quota,
                                                    Instant now) noexcept {
    return tokens_in_ceil(bucket_meter::level_at(state.full_at, quota, effective(state, now)),
                          quota);
  }

  [[nodiscard]] static constexpr State with_level(ExactSpan level, const Quota& quota,
                                                  Instant now) noexcept {
    return {.full_at = bucket_meter::instant_after(now, level, quota), .last = now};
  }

  // The most units that can pass in any time of one period.
  [[nodiscard]] static constexpr std::uint64_t max_in_any_period(const Quota& quota) noexcept {
    return bucket_meter::max_in_any_period(quota);
  }

  [[nodiscard]] static constexpr Instant effective(const State& state, Instant now) noexcept {
    return std::max(state.last, now);
  }
};

}  // namespace penstock::core
