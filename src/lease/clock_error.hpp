#pragma once

#include "penstock/time.hpp"

// Two clocks that are not stepped still differ in rate: by less than one part in a thousand, which
// exceeds the rate correction of any kernel.
namespace penstock::lease {

inline constexpr std::int64_t kClockError = 1000;

// Upper bound of the time elsewhere while `time` passes here.
[[nodiscard]] constexpr Duration at_most(Duration time) noexcept {
  return time + time / kClockError + Duration{1};
}

// Lower bound of the time elsewhere while `time` passes here.
[[nodiscard]] constexpr Duration at_least(Duration time) noexcept {
  return time - time / kClockError - Duration{1};
}

}  // namespace penstock::lease
