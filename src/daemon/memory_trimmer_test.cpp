#include "daemon/memory_trimmer.hpp"

#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

TEST(MemoryTrimmer, ReturnsMemoryAfterManyConnectionsClosed) {
  MemoryTrimmer memory;
  for (int second = 1; second < 10; ++second) EXPECT_FALSE(memory.tick(50));
  EXPECT_TRUE(memory.tick(50));
  for (int second = 0; second < 20; ++second) EXPECT_FALSE(memory.tick(99));
  EXPECT_TRUE(memory.tick(100));
}

TEST(MemoryTrimmer, DoesNotReturnMemoryEverySecond) {
  MemoryTrimmer memory;
  int returned = 0;
  for (std::uint64_t second = 1; second <= 100; ++second) {
    if (memory.tick(1000 * second)) ++returned;
  }
  EXPECT_EQ(returned, 10);
}

}  // namespace
}  // namespace penstock::daemon
