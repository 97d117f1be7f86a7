#pragma once

#include "penstock/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// An exact decimal number with nine decimal places: 0.1 + 0.2 is 0.3. From -9223372036.854775808 to
// 9223372036.854775807.
class Decimal {
 public:
  static constexpr std::int64_t kNanosPerUnit = 1'000'000'000;

  constexpr Decimal() = default;
  [[nodiscard]] static constexpr Decimal from_nanos(std::int64_t nanos) { return Decimal(nanos); }
  // "12", "-0.25", "1.000000001". Rejects more than nine places and numbers out of range.
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
