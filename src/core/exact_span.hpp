#pragma once

#include "base/wide.hpp"
#include "penstock/quota.hpp"

#include <cstdint>

// Arithmetic on ExactSpan. Both operands belong to one quota; its rate_units() is the divisor.
namespace penstock::core {

[[nodiscard]] constexpr ExactSpan plus(ExactSpan a, ExactSpan b, std::uint32_t divisor) noexcept {
  // part < divisor <= 10^9, so that the sum of two parts stays within 32 bits
  ExactSpan sum{.whole = a.whole + b.whole, .part = a.part + b.part};
  if (sum.part >= divisor) {
    sum.part -= divisor;
    ++sum.whole;
  }
  return sum;
}

// REQUIRES: b <= a.
[[nodiscard]] constexpr ExactSpan minus(ExactSpan a, ExactSpan b, std::uint32_t divisor) noexcept {
  ExactSpan difference{.whole = a.whole - b.whole, .part = a.part};
  if (a.part < b.part) {
    difference.part += divisor;
    --difference.whole;
  }
  difference.part -= b.part;
  return difference;
}

[[nodiscard]] constexpr Duration ceil_micros(ExactSpan span) noexcept {
  return Duration{span.whole + (span.part > 0 ? 1 : 0)};
}

// The span in the quota's units: one token is token_units().
[[nodiscard]] constexpr base::Wide to_units(ExactSpan span, const Quota& quota) noexcept {
  return static_cast<base::Wide>(span.whole) * quota.rate_units() + span.part;
}

// How many whole tokens refill in this span.
[[nodiscard]] constexpr std::uint32_t tokens_in(ExactSpan span, const Quota& quota) noexcept {
  std::uint64_t narrow = 0;
  if (!__builtin_mul_overflow(static_cast<std::uint64_t>(span.whole),
                              std::uint64_t{quota.rate_units()}, &narrow) &&
      !__builtin_add_overflow(narrow, std::uint64_t{span.part}, &narrow)) [[likely]] {
    return static_cast<std::uint32_t>(narrow / quota.token_units());
  }
  return static_cast<std::uint32_t>(to_units(span, quota) / quota.token_units());
}

// The same, counting a token that is only partly there.
[[nodiscard]] constexpr std::uint32_t tokens_in_ceil(ExactSpan span, const Quota& quota) noexcept {
  return static_cast<std::uint32_t>((to_units(span, quota) + quota.token_units() - 1) /
                                    quota.token_units());
}

}  // namespace penstock::core
