#pragma once

#include "core/bucket_meter.hpp"

namespace penstock::core {

// The generic cell rate algorithm: one exact instant per key, at which it will be idle again (the
// theoretical arrival time). The same envelope and the same answers as the token bucket while time
// goes forward.
//
// A clock that steps back makes decisions stricter, never looser, and for one refill at the most.
//
// Thread-safety: stateless. tests/vectors has its answers for other implementations to replay.
struct Gcra {
  static constexpr bool kIsBucket = true;
  static constexpr bool kCanLease = true;

  struct State {
    ExactSpan idle_at;

    friend constexpr bool operator==(const State&, const State&) = default;
  };

  // As TokenBucket::settle.
  [[nodiscard]] static constexpr bool settle(State& state, const Quota& quota,
                                             Instant now) noexcept {
    const ExactSpan latest = bucket_meter::instant_after(now, quota.fill_time(), quota);
    if (state.idle_at <= latest) [[likely]] {
      return false;
    }
    state.idle_at = latest;
    return true;
  }

  [[nodiscard, gnu::always_inline]] static constexpr Decision evaluate(const State& state,
                                                                       const Quota& quota,
                                                                       Cost cost,
                                                                       Instant now) noexcept {
    return bucket_meter::evaluate(bucket_meter::level_at(state.idle_at, quota, now), quota, cost,
                                  Duration{0});
  }

  // As TokenBucket::evaluate_within.
  [[nodiscard]] static constexpr Decision evaluate_within(const State& state, const Quota& owner,
                                                          std::uint32_t capacity, Cost cost,
                                                          Instant now) noexcept {
    return bucket_meter::evaluate_within(bucket_meter::level_at(state.idle_at, owner, now), owner,
                                         capacity, cost, Duration{0});
  }

  // REQUIRES: evaluate() allowed this cost on this state.
  [[gnu::always_inline]] static constexpr void commit(State& state, const Quota& quota, Cost cost,
                                                      Instant now) noexcept {
    state.idle_at =
        bucket_meter::take(bucket_meter::level_at(state.idle_at, quota, now), quota, cost, now);
  }

  static constexpr void refund(State& state, const Quota& quota, Cost cost, Instant now) noexcept {
    state.idle_at =
        bucket_meter::refund(bucket_meter::level_at(state.idle_at, quota, now), quota, cost, now);
  }

  [[nodiscard]] static constexpr Instant expires_at(const State& state,
                                                    const Quota& /*quota*/) noexcept {
    return bucket_meter::expires_at(state.idle_at);
  }

  [[nodiscard]] static constexpr std::uint32_t used(const State& state, const Quota& quota,
                                                    Instant now) noexcept {
    return tokens_in_ceil(bucket_meter::level_at(state.idle_at, quota, now), quota);
  }

  [[nodiscard]] static constexpr State with_level(ExactSpan level, const Quota& quota,
                                                  Instant now) noexcept {
    return {.idle_at = bucket_meter::instant_after(now, level, quota)};
  }

  [[nodiscard]] static constexpr std::uint64_t max_in_any_period(const Quota& quota) noexcept {
    return bucket_meter::max_in_any_period(quota);
  }
};

}  // namespace penstock::core
