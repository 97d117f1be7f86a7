#pragma once

#include <chrono>
#include <cstdint>

namespace penstock {

// Limits are decided in whole microseconds, the resolution of TIME in Redis: all stores decide
// alike.
using Duration = std::chrono::microseconds;

// Microseconds since 1970-01-01 UTC.
using Instant = std::chrono::sys_time<Duration>;

using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;

// Rounds up, so that a client that waits for this time is admitted. All waits in HTTP headers use
// it.
[[nodiscard]] constexpr std::chrono::seconds ceil_seconds(Duration wait) noexcept {
  return std::chrono::ceil<std::chrono::seconds>(wait);
}

}  // namespace penstock
