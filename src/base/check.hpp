#pragma once

#include <cstdlib>

// A condition that only a bug can break: in this library, or in a caller that violates a REQUIRES
// of the public headers. Never for input or network data.
#define PENSTOCK_CHECK(condition)    \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      std::abort();                  \
    }                                \
  } while (false)

// The same, for conditions that are too expensive outside debug builds.
#ifdef NDEBUG
#define PENSTOCK_DCHECK(condition) static_cast<void>(0)
#else
#define PENSTOCK_DCHECK(condition) PENSTOCK_CHECK(condition)
#endif
