#pragma once

#include "base/monotonic_time.hpp"

#include <chrono>

namespace penstock::base {

// When a caller stops waiting for an answer. Passed on from call to call, never restarted.
using Deadline = std::chrono::steady_clock::time_point;

// Deadlines are enforced with this precision, so that one timer serves many of them: a call may
// fail this much after its deadline.
inline constexpr std::chrono::microseconds kDeadlineResolution{500};

[[nodiscard]] inline Deadline deadline_after(std::chrono::steady_clock::duration time) noexcept {
  return monotonic_now() + time;
}

}  // namespace penstock::base
