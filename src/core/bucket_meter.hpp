#pragma once

#include "core/exact_span.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <algorithm>

// What the token bucket and GCRA have in common: both remember the instant at which the key will
// have its whole burst again, and differ only in what they do when the clock steps back.
namespace penstock::core::bucket_meter {

// The level of the bucket at `now`: how long what was used takes to refill, never more than a whole
// bucket.
[[nodiscard]] constexpr ExactSpan level_at(ExactSpan full_at, const Quota& quota,
                                           Instant now) noexcept {
  const ExactSpan present{.whole = now.time_since_epoch().count(), .part = 0};
  if (full_at <= present) return {};
  return std::min(minus(full_at, present, quota.rate_units()), quota.fill_time());
}

// A wait of this span, which is `behind` longer when the clock is that much behind the state.
[[nodiscard]] constexpr Duration wait_for(ExactSpan span, Duration behind) noexcept {
  return span == ExactSpan{} ? Duration{0} : behind + ceil_micros(span);
}

[[nodiscard, gnu::always_inline]] constexpr inline Decision evaluate(ExactSpan level,
                                                                     const Quota& quota, Cost cost,
                                                                     Duration behind) noexcept {
  const std::uint32_t divisor = quota.rate_units();
  const ExactSpan slack = minus(quota.fill_time(), level, divisor);
  if (cost.units > quota.capacity()) [[unlikely]] {
    return Decision::never_fits(quota.capacity(), tokens_in(slack, quota), wait_for(level, behind));
  }
  const bool taking = cost.units > 0;
  const ExactSpan need = cost.units <= 1 ? quota.token_time() : quota.time_for(cost.units);
  if (need > slack) {
    return Decision::deny(quota.capacity(), tokens_in(slack, quota), wait_for(level, behind),
                          wait_for(minus(need, slack, divisor), behind));
  }
  if (!taking) {
    return Decision::allow(quota.capacity(), tokens_in(slack, quota), wait_for(level, behind));
  }
  return Decision::allow(quota.capacity(), tokens_in(minus(slack, need, divisor), quota),
                         wait_for(plus(level, need, divisor), behind));
}

[[nodiscard]] constexpr ExactSpan instant_after(Instant now, ExactSpan span,
                                                const Quota& quota) noexcept {
  return plus({.whole = now.time_since_epoch().count(), .part = 0}, span, quota.rate_units());
}

// REQUIRES: cost fits.
[[nodiscard]] constexpr ExactSpan take(ExactSpan level, const Quota& quota, Cost cost,
                                       Instant now) noexcept {
  const ExactSpan need = cost.units == 1 ? quota.token_time() : quota.time_for(cost.units);
  return instant_after(now, plus(level, need, quota.rate_units()), quota);
}

[[nodiscard]] constexpr ExactSpan refund(ExactSpan level, const Quota& quota, Cost cost,
                                         Instant now) noexcept {
  const ExactSpan credit = quota.time_for(std::min<std::uint64_t>(cost.units, quota.capacity()));
  return instant_after(
      now, credit >= level ? ExactSpan{} : minus(level, credit, quota.rate_units()), quota);
}

[[nodiscard]] constexpr Instant expires_at(ExactSpan full_at) noexcept {
  return Instant{ceil_micros(full_at)};
}

// A burst, and what flows in meanwhile.
[[nodiscard]] constexpr std::uint64_t max_in_any_period(const Quota& quota) noexcept {
  return std::uint64_t{quota.limit()} + quota.capacity() - 1;
}

// As evaluate(), for a request under a quota of another capacity: the level drains at the rate of
// `owner`, and may be above that capacity. Allows a cost as if nothing were taken yet.
[[nodiscard]] constexpr Decision evaluate_within(ExactSpan level, const Quota& owner,
                                                 std::uint32_t capacity, Cost cost,
                                                 Duration behind) noexcept {
  const std::uint32_t used = tokens_in_ceil(level, owner);
  const std::uint32_t remaining = capacity - std::min(capacity, used);
  const Duration reset_after = wait_for(level, behind);
  if (cost.units > capacity) return Decision::never_fits(capacity, remaining, reset_after);
  const std::uint64_t asked = std::max<std::uint64_t>(cost.units, 1);
  if (asked <= remaining) return Decision::allow(capacity, remaining, reset_after);
  // less than what is used, and so within the owner's capacity
  const ExactSpan room = owner.time_for(capacity - asked);
  return Decision::deny(capacity, remaining, reset_after,
                        wait_for(minus(level, room, owner.rate_units()), behind));
}

// The same number of used tokens, expressed for a quota with another rate. A fraction of the new
// unit rounds against the key; whole tokens stay whole. REQUIRES: they fit `to`.
[[nodiscard]] constexpr ExactSpan convert_level(ExactSpan level, const Quota& from,
                                                const Quota& to) noexcept {
  const base::Wide units = to_units(level, from);
  const base::Wide whole_tokens = units / from.token_units();
  const base::Wide rest = units % from.token_units();
  const base::Wide converted =
      whole_tokens * to.token_units() +
      (rest * to.token_units() + from.token_units() - 1) / from.token_units();
  return {.whole = static_cast<std::int64_t>(converted / to.rate_units()),
          .part = static_cast<std::uint32_t>(converted % to.rate_units())};
}

}  // namespace penstock::core::bucket_meter
