#pragma once

#include "penstock/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// A decimal number with nine places behind the point, exact: 0.1 + 0.2 is 0.3. Between
// -9223372036.854775808 and 9223372036.854775807.
class Decimal {
 public:
  static constexpr std::int64_t kNanosPerUnit = 1'000'000'000;

  constexpr Decimal() = default;
  [[nodiscard]] static constexpr Decimal from_nanos(std::int64_t nanos) { return Decimal(nanos); }
  // "12", "-0.25", "1.000000001". More than nine places, or a number too large, is refused.
  [[nodiscard]] static Result<Decimal> parse(std::string_view text);

  [[nodiscard]] constexpr std::int64_t nanos() const { return nanos_; }

  friend constexpr auto operator<=>(const Decimal&, const Decimal&) = default;

 private:
  constexpr explicit Decimal(std::int64_t nanos) : nanos_(nanos) {}

  std::int64_t nanos_ = 0;
};

// The shortest text that parses to the same number.
[[nodiscard]] std::string to_string(Decimal value);

}  // namespace penstock
