#pragma once

#include "penstock/clock.hpp"

#include <cstdint>

namespace penstock {

// How large the embedded store may grow.
struct MemoryOptions {
  // Keys remembered at once. Beyond it the key with most of its quota left is forgotten first, out
  // of a sample. About 42 bytes each, for every algorithm but the sliding log and sub-windows.
  std::uint64_t max_keys = 1'000'000;
  // What the sliding log and sub-windows may use besides, in bytes, all keys together.
  std::uint64_t max_log_bytes = std::uint64_t{256} << 20U;
  // Counters are never forgotten; beyond this many, adding to a new one is an error.
  std::uint64_t max_counters = 1'000'000;
  // For tests; must outlive the limiter. The system's clock when null.
  const Clock* clock = nullptr;
};

// What the embedded store has done so far.
struct MemoryStats {
  std::uint64_t keys = 0;            // remembered now
  std::uint64_t bytes = 0;           // allocated now, tables and logs
  std::uint64_t blocked = 0;         // keys blocked now
  std::uint64_t expired = 0;         // dropped because they said nothing any more
  std::uint64_t evicted = 0;         // dropped because the store was full
  std::uint64_t evicted_usage = 0;   // what the evicted had used: so much may be admitted again
  std::uint64_t blocks_evicted = 0;  // blocks dropped because there were too many
  std::uint64_t table_resizes = 0;   // times that a part of the table was enlarged or shrunk
};

}  // namespace penstock
