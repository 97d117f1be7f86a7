#pragma once

#include "core/exact_span.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <algorithm>

// What the token bucket and GCRA have in common: both remember the instant at which the key will
// have its whole burst again, and differ only in what they do when the clock steps back.
namespace penstock::core::bucket_meter {

// What is still owed at `now`, never more than a whole bucket.
[[nodiscard]] constexpr ExactSpan debt_at(ExactSpan full_at, const Quota& quota,
                                          Instant now) noexcept {
  const ExactSpan present{.whole = now.time_since_epoch().count(), .part = 0};
  if (full_at <= present) return {};
  return std::min(minus(full_at, present, quota.rate_units()), quota.fill_time());
}

// `behind` is how far the clock is behind the state; waits are that much longer.
[[nodiscard, gnu::always_inline]] constexpr inline Decision evaluate(ExactSpan debt,
                                                                     const Quota& quota, Cost cost,
                                                                     Duration behind) noexcept {
  const std::uint32_t divisor = quota.rate_units();
  const ExactSpan slack = minus(quota.fill_time(), debt, divisor);
  const auto wait_for = [&](ExactSpan span) {
    return span == ExactSpan{} ? Duration{0} : behind + ceil_micros(span);
  };
  if (cost.units > quota.capacity()) [[unlikely]] {
    return Decision::never_fits(quota.capacity(), tokens_in(slack, quota), wait_for(debt));
  }
  const bool taking = cost.units > 0;
  const ExactSpan need = cost.units <= 1 ? quota.token_time() : quota.time_for(cost.units);
  if (need > slack) {
    return Decision::deny(quota.capacity(), tokens_in(slack, quota), wait_for(debt),
                          wait_for(minus(need, slack, divisor)));
  }
  if (!taking) return Decision::allow(quota.capacity(), tokens_in(slack, quota), wait_for(debt));
  return Decision::allow(quota.capacity(), tokens_in(minus(slack, need, divisor), quota),
                         wait_for(plus(debt, need, divisor)));
}

[[nodiscard]] constexpr ExactSpan instant_after(Instant now, ExactSpan span,
                                                const Quota& quota) noexcept {
  return plus({.whole = now.time_since_epoch().count(), .part = 0}, span, quota.rate_units());
}

// REQUIRES: cost fits.
[[nodiscard]] constexpr ExactSpan take(ExactSpan debt, const Quota& quota, Cost cost,
                                       Instant now) noexcept {
  const ExactSpan need = cost.units == 1 ? quota.token_time() : quota.time_for(cost.units);
  return instant_after(now, plus(debt, need, quota.rate_units()), quota);
}

[[nodiscard]] constexpr ExactSpan give_back(ExactSpan debt, const Quota& quota, Cost cost,
                                            Instant now) noexcept {
  const ExactSpan credit = quota.time_for(std::min<std::uint64_t>(cost.units, quota.capacity()));
  return instant_after(now, credit >= debt ? ExactSpan{} : minus(debt, credit, quota.rate_units()),
                       quota);
}

[[nodiscard]] constexpr Instant expires_at(ExactSpan full_at) noexcept {
  return Instant{ceil_micros(full_at)};
}

// The same number of tokens owed, expressed for a quota with another rate. A fraction of the new
// unit rounds against the key; whole tokens stay whole.
[[nodiscard]] constexpr ExactSpan convert_debt(ExactSpan debt, const Quota& from,
                                               const Quota& to) noexcept {
  const base::Wide units = to_units(debt, from);
  const base::Wide whole_tokens = units / from.token_units();
  const base::Wide rest = units % from.token_units();
  if (whole_tokens >= to.capacity()) return to.fill_time();
  const base::Wide converted =
      whole_tokens * to.token_units() +
      (rest * to.token_units() + from.token_units() - 1) / from.token_units();
  return std::min(ExactSpan{.whole = static_cast<std::int64_t>(converted / to.rate_units()),
                            .part = static_cast<std::uint32_t>(converted % to.rate_units())},
                  to.fill_time());
}

}  // namespace penstock::core::bucket_meter
