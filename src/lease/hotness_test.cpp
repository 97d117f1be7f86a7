#include "lease/hotness.hpp"

#include <gtest/gtest.h>

namespace penstock::lease {
namespace {

constexpr store::Hash128 kKey{.high = 1ULL << 32U, .low = 1};
constexpr store::Hash128 kOther{.high = 2ULL << 32U, .low = 1};  // in the same counter

TEST(Hotness, AKeyIsHotAtTheThreshold) {
  Hotness hotness;
  for (std::uint32_t i = 1; i < Hotness::kHot; ++i) EXPECT_FALSE(hotness.note(kKey, 7)) << i;
  EXPECT_TRUE(hotness.note(kKey, 7));
  EXPECT_TRUE(hotness.note(kKey, 7));
}

TEST(Hotness, StartsAfreshInTheNextInterval) {
  Hotness hotness;
  for (std::uint32_t i = 0; i < 2 * Hotness::kHot; ++i) static_cast<void>(hotness.note(kKey, 7));
  EXPECT_FALSE(hotness.note(kKey, 8));
}

TEST(Hotness, TheBusierOfTwoKeysWithOneCounterWins) {
  Hotness hotness;
  bool busy_is_hot = false;
  for (int i = 0; i < 100; ++i) {
    busy_is_hot = hotness.note(kKey, 7) || busy_is_hot;
    busy_is_hot = hotness.note(kKey, 7) || busy_is_hot;
    EXPECT_FALSE(hotness.note(kOther, 7));
  }
  EXPECT_TRUE(busy_is_hot);
}

TEST(Hotness, KeysWithOneRequestEachAreNeverHot) {
  Hotness hotness(16);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(hotness.note({.high = i << 32U, .low = i * 31}, 7));
  }
}

}  // namespace
}  // namespace penstock::lease
