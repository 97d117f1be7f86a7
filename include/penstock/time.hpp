#pragma once

#include <chrono>
#include <cstdint>

namespace penstock {

// Every limit is decided in whole microseconds: the resolution of Redis' TIME, so that a
// store there can give the same answers.
using Duration = std::chrono::microseconds;

// Microseconds since 1970-01-01 UTC.
using Instant = std::chrono::sys_time<Duration>;

using Days = std::chrono::duration<std::int64_t, std::ratio<86400>>;

// Rounds up, so that a client who waits as told is admitted. The one place where waits are
// turned into the whole seconds of HTTP headers.
[[nodiscard]] constexpr std::chrono::seconds ceil_seconds(Duration wait) noexcept {
  return std::chrono::ceil<std::chrono::seconds>(wait);
}

}  // namespace penstock
