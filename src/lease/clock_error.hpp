#pragma once

#include "penstock/time.hpp"

// Two clocks that nobody set still differ in how fast they run: by less than one part in a
// thousand, which is more than kernels correct them by.
namespace penstock::lease {

inline constexpr std::int64_t kClockError = 1000;

// What may have passed elsewhere while so much passed here.
[[nodiscard]] constexpr Duration at_most(Duration time) noexcept {
  return time + time / kClockError + Duration{1};
}

// What has passed elsewhere for certain while so much passes here, and so what may be used of it.
[[nodiscard]] constexpr Duration at_least(Duration time) noexcept {
  return time - time / kClockError - Duration{1};
}

}  // namespace penstock::lease
