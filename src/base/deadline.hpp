#pragma once

#include "base/monotonic_time.hpp"

#include <chrono>

namespace penstock::base {

// The moment after which nobody waits for an answer any more. Passed on from call to call, never
// started afresh.
using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline deadline_after(std::chrono::steady_clock::duration time) noexcept {
  return monotonic_now() + time;
}

}  // namespace penstock::base
