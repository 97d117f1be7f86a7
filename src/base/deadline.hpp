#pragma once

#include "base/monotonic_time.hpp"

#include <chrono>

namespace penstock::base {

// When a caller stops waiting for an answer. Passed on from call to call, never restarted.
using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline deadline_after(std::chrono::steady_clock::duration time) noexcept {
  return monotonic_now() + time;
}

}  // namespace penstock::base
