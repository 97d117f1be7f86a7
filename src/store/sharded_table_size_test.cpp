// How much memory a key takes while a store is being filled.
#include "store/sharded_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::store {
namespace {

constexpr KeyHasher::Secret kFixedSecret{0x1111, 0x2222};
constexpr double kMaxBytesPerKey = 48;

double worst_bytes_per_key(const Quota& quota) {
  const ManualClock clock;
  ShardedTable store({.max_keys = 10'000'000, .clock = &clock}, KeyHasher(kFixedSecret));
  double worst = 0;
  for (int key = 0; key < 400'000; ++key) {
    static_cast<void>(store.check("user:" + std::to_string(key), quota, Cost{1}));
    if (key < 50'000 || key % 1009 != 0) continue;
    const MemoryStats stats = store.stats();
    worst = std::max(worst, static_cast<double>(stats.bytes) / static_cast<double>(stats.keys));
  }
  return worst;
}

TEST(ShardedTableSize, NeverTakesMoreThan48BytesPerKeyWhileItFills) {
  EXPECT_LE(worst_bytes_per_key(per_hour(1000)), kMaxBytesPerKey);
  EXPECT_LE(worst_bytes_per_key(per_hour(1000).sliding_counter()), kMaxBytesPerKey);
}

}  // namespace
}  // namespace penstock::store
