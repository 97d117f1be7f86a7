#pragma once

#include <chrono>

namespace penstock::base {

// std::chrono::steady_clock, read for a third of its price where the processor allows it: a time
// stamp counter that the kernel itself keeps time by is read without waiting for the instructions
// before it, and tied to the real clock again every millisecond of each thread. Off by some tens of
// nanoseconds at the most; two readings of one thread may be that much out of order.
// docs/adr/0004 has the figures.
[[nodiscard]] std::chrono::steady_clock::time_point monotonic_now() noexcept;

}  // namespace penstock::base
