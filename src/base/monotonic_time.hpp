#pragma once

#include <chrono>

namespace penstock::base {

// std::chrono::steady_clock at a third of its cost where the processor allows it: reads the time
// stamp counter that the kernel itself uses, without serialization, and re-anchors it to the real
// clock every millisecond per thread. The error is some tens of nanoseconds; two readings of one
// thread may be that much out of order. docs/adr/0004 has the figures.
[[nodiscard]] std::chrono::steady_clock::time_point monotonic_now() noexcept;

}  // namespace penstock::base
