#pragma once

#include "penstock/clock.hpp"

#include <cstdint>

namespace penstock {

// Bounds of the memory store.
struct MemoryOptions {
  // Keys in memory. When full, the key with most of its quota left is evicted, out of a sample.
  // About 42 bytes each, for every algorithm but the sliding log and sub-windows.
  std::uint64_t max_keys = 1'000'000;
  // Additional bytes for the sliding logs and sub-windows of all keys.
  std::uint64_t max_log_bytes = std::uint64_t{256} << 20U;
  // Counters are never evicted; when full, adding to a new one is an error.
  std::uint64_t max_counters = 1'000'000;
  // For tests; must outlive the limiter. The system clock when null.
  const Clock* clock = nullptr;
};

// Statistics of the memory store.
struct MemoryStats {
  std::uint64_t keys = 0;            // in memory now
  std::uint64_t bytes = 0;           // allocated now, tables and logs
  std::uint64_t blocked = 0;         // keys blocked now
  std::uint64_t expired = 0;         // dropped because all usage had expired
  std::uint64_t evicted = 0;         // dropped because the store was full
  std::uint64_t evicted_usage = 0;   // usage of evicted keys, which may be admitted again
  std::uint64_t blocks_evicted = 0;  // blocks dropped because there were too many
  std::uint64_t table_resizes = 0;   // of parts of the table
};

}  // namespace penstock
