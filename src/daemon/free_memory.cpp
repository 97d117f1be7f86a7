#include "daemon/free_memory.hpp"

#include <malloc.h>

namespace penstock::daemon {

void map_long_buffers() {
#ifdef __GLIBC__
  constexpr int kThreshold = 128 << 10;
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, kThreshold));  // fails only out of its range
#endif
}

bool FreeMemory::tick(std::uint64_t closed) {
  if (++ticks_ < kTicks || closed - known_ < kMany) return false;
#ifdef __GLIBC__
  static_cast<void>(malloc_trim(0));  // whether there was anything to return
#endif
  known_ = closed;
  ticks_ = 0;
  return true;
}

}  // namespace penstock::daemon
