#include "daemon/memory_trimmer.hpp"

#include <malloc.h>

namespace penstock::daemon {

void set_mmap_threshold() {
#ifdef __GLIBC__
  constexpr int kThreshold = 128 << 10;
  // It fails only for values out of range.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): called at startup, before there are other threads
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, kThreshold));
#endif
}

bool MemoryTrimmer::tick(std::uint64_t closed) {
  if (++ticks_ < kMinTicks || closed - known_ < kMinClosedConnections) return false;
#ifdef __GLIBC__
  static_cast<void>(malloc_trim(0));  // the result is not needed
#endif
  known_ = closed;
  ticks_ = 0;
  return true;
}

}  // namespace penstock::daemon
