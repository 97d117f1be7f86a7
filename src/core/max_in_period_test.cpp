#include "core/quota_math.hpp"
#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

// A client that takes every unit as soon as it can, for one period from its first.
std::uint64_t greedy(const Quota& quota) {
  TestKey key(quota);
  const Instant end = key.now() + quota.period();
  std::uint64_t taken = 0;
  while (key.now() < end) {
    const Decision decision = key.take();
    if (decision.allowed()) {
      ++taken;
    } else {
      key.wait(decision.retry_after().value());
    }
  }
  return taken;
}

TEST(MaxInAnyPeriod, IsWhatAGreedyClientGetsOutOfABucket) {
  constexpr Quota kPlain = per_minute(100);
  constexpr Quota kBurst = per_minute(100).burst(20);
  constexpr Quota kSmooth = per_minute(100).burst(1);
  constexpr Quota kGcra = per_minute(100).gcra();
  constexpr Quota kGcraBurst = per_second(7).burst(3).gcra();
  constexpr Quota kWide = per_second(5).burst(50);
  for (const Quota& quota : {kPlain, kBurst, kSmooth, kGcra, kGcraBurst, kWide}) {
    EXPECT_EQ(max_in_any_period(quota), greedy(quota)) << to_string(quota);
  }
  EXPECT_EQ(max_in_any_period(kPlain), 199U);
  EXPECT_EQ(max_in_any_period(kBurst), 119U);
  EXPECT_EQ(max_in_any_period(kSmooth), 100U);
}

TEST(MaxInAnyPeriod, OfWindowsIsAsDocumented) {
  constexpr Quota kFixed = per_minute(10).fixed_window();
  constexpr Quota kFromFirst = per_minute(10).anchored_window();
  constexpr Quota kCounter = per_minute(10).sliding_counter();
  constexpr Quota kLog = per_minute(10).sliding_log();
  constexpr Quota kSub = per_minute(10).sub_windows();
  EXPECT_EQ(max_in_any_period(kFixed), 20U);
  EXPECT_EQ(max_in_any_period(kFromFirst), 19U);
  EXPECT_EQ(max_in_any_period(kCounter), 19U);
  EXPECT_EQ(max_in_any_period(kLog), 10U);
  EXPECT_EQ(max_in_any_period(kSub), 10U);
  EXPECT_EQ(max_in_any_period(Quota::none(std::chrono::seconds{1})), 0U);
}

}  // namespace
}  // namespace penstock::core
