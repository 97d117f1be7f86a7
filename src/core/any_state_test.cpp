#include "core/any_state.hpp"

#include "core/test_key.hpp"

#include <gtest/gtest.h>

#include <array>

namespace penstock::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::array kEveryAlgorithm{
    Quota{per_minute(10)},
    Quota{per_minute(10).gcra()},
    Quota{per_minute(10).fixed_window()},
    Quota{per_minute(10).anchored_window()},
    Quota{per_minute(10).sliding_log()},
    Quota{per_minute(10).sliding_counter()},
    Quota{per_minute(10).sub_windows(6)},
};

TEST(AnyState, AnAbsentKeyHasTheWholeCapacity) {
  for (const Quota& quota : kEveryAlgorithm) {
    const TestKey key(quota);
    EXPECT_EQ(key.would_take(0), Decision::allow(10, 10, Duration{0})) << to_string(quota);
    EXPECT_EQ(used(key.state(), quota, key.now()), 0U) << to_string(quota);
  }
}

TEST(AnyState, EvaluateAnswersWhatDecideWould) {
  for (const Quota& quota : kEveryAlgorithm) {
    TestKey key(quota);
    for (const std::uint64_t cost : {3U, 0U, 4U, 5U, 11U, 3U}) {
      const Decision foretold = key.would_take(cost);
      EXPECT_EQ(key.take(cost), foretold) << to_string(quota);
    }
  }
}

TEST(AnyState, EqualityIsTheLimit) {
  for (const Quota& quota : kEveryAlgorithm) {
    TestKey key(quota);
    EXPECT_TRUE(key.take(10).allowed()) << to_string(quota);
    EXPECT_EQ(key.take(1).outcome(), Outcome::Denied) << to_string(quota);
  }
}

TEST(AnyState, UsedIsWhatDoesNotRemain) {
  for (const Quota& quota : kEveryAlgorithm) {
    TestKey key(quota);
    ASSERT_TRUE(key.take(7).allowed());
    key.wait(seconds{1});
    EXPECT_EQ(used(key.state(), quota, key.now()), 7U) << to_string(quota) << ", rounded up";
  }
}

// A store that keeps a key for its time to live, rounded down to seconds, admits 1200 here.
TEST(AnyState, ForgettingWhatExpiredForgetsNoDebt) {
  constexpr Quota kOnePerSecond = per_second(1).burst(10);
  TestKey key(kOnePerSecond);
  TestKey remembered(kOnePerSecond);
  int admitted = 0;
  for (int pair = 0; pair < 600; ++pair) {
    for (int request = 0; request < 2; ++request) {
      key.forget_if_expired();
      const bool allowed = key.take().allowed();
      EXPECT_EQ(allowed, remembered.take().allowed());
      if (allowed) ++admitted;
    }
    key.wait(milliseconds{1001});
    remembered.wait(milliseconds{1001});
  }
  EXPECT_EQ(admitted, 609);
}

TEST(CarryOver, AnAbsentKeyStaysAbsent) {
  for (const Quota& quota : kEveryAlgorithm) {
    EXPECT_EQ(carry_over(AnyState{}, kEveryAlgorithm[0], quota, TestKey::kStart), AnyState{});
  }
}

TEST(CarryOver, WhatWasUsedStaysUsedUnderEveryOtherAlgorithm) {
  for (const Quota& from : kEveryAlgorithm) {
    for (const Quota& to : kEveryAlgorithm) {
      TestKey key(from);
      ASSERT_TRUE(key.take(4).allowed());
      key.change_quota(to);
      EXPECT_EQ(key.remaining(), 6U) << to_string(from) << " -> " << to_string(to);
    }
  }
}

TEST(CarryOver, ALargerBurstDoesNotRefillTheBucket) {
  constexpr Quota kBefore = per_minute(60).burst(10);
  constexpr Quota kAfter = per_minute(60).burst(100);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.change_quota(kAfter);
  EXPECT_EQ(key.remaining(), 90U);
}

TEST(CarryOver, ASmallerBurstIsOwedAtMostOnce) {
  constexpr Quota kBefore = per_minute(60).burst(100);
  constexpr Quota kAfter = per_minute(60).burst(10);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(80).allowed());
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).retry_after(), seconds{1});
  EXPECT_EQ(key.reset_after(), seconds{10});
}

TEST(CarryOver, ABucketKeepsItsFractionOfAToken) {
  constexpr Quota kBefore = per_second(1).burst(5);
  constexpr Quota kAfter = per_second(2).burst(5);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(5).allowed());
  key.wait(milliseconds{750});
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).retry_after(), milliseconds{125})
      << "a quarter of a token, at the new rate";
}

TEST(CarryOver, AFractionThatDoesNotFitTheNewRateRoundsAgainstTheKey) {
  constexpr Quota kBefore = per_second(3).burst(2);
  constexpr Quota kAfter = per_second(1).burst(2);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(2).allowed());
  key.wait(Duration{1});
  // 1.999997 tokens are owed, which is 1.999997 s exactly
  key.change_quota(kAfter);
  EXPECT_EQ(key.reset_after(), Duration{1'999'997});
}

TEST(CarryOver, AWindowKeepsItsCountersWhenOnlyTheLimitChanges) {
  constexpr Quota kBefore = per_minute(10).sliding_log();
  constexpr Quota kAfter = per_minute(6).sliding_log();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(4).allowed());
  key.wait(seconds{30});
  ASSERT_TRUE(key.take(4).allowed());
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).retry_after(), seconds{30}) << "8 of 6 are used until the first 4 are old";
  EXPECT_EQ(key.reset_after(), minutes{1});
}

TEST(CarryOver, ALoweredWindowLimitReportsNoneRemaining) {
  for (const Quota& quota : kEveryAlgorithm) {
    if (quota.is_bucket()) continue;
    TestKey key(quota);
    ASSERT_TRUE(key.take(10).allowed());
    QuotaSpec lowered = per_minute(3).with(quota.algorithm());
    lowered.sub_window_count = quota.sub_window_count();
    key.change_quota(Quota::make(lowered).value());
    EXPECT_EQ(key.remaining(), 0U) << to_string(quota);
    EXPECT_EQ(key.take(1).outcome(), Outcome::Denied) << to_string(quota);
    key.wait(key.reset_after());
    EXPECT_EQ(key.remaining(), 3U) << to_string(quota);
  }
}

TEST(CarryOver, NoMoreIsOwedThanTheNewLimit) {
  constexpr Quota kBefore = per_minute(100);
  constexpr Quota kAfter = per_minute(10).sliding_counter();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(100).allowed());
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).retry_after(), seconds{66}) << "10 * 54 / 60 = 9";
}

TEST(CarryOver, AClockFarBehindOwesNoMoreThanTheOldBurst) {
  constexpr Quota kBefore = per_minute(60).burst(5).gcra();
  constexpr Quota kAfter = per_minute(60).burst(100).gcra();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(1).allowed());
  key.step_clock_back(Days{1});
  key.change_quota(kAfter);
  EXPECT_EQ(key.remaining(), 95U);
}

TEST(CarryOver, AnotherPeriodCountsWhatWasUsedAsTakenNow) {
  constexpr Quota kBefore = per_minute(10).anchored_window();
  constexpr Quota kAfter = per(10, minutes{10}).anchored_window();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.wait(seconds{50});
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).retry_after(), minutes{10});
}

TEST(CarryOver, AnExpiredWindowStartsNoNewOne) {
  constexpr Quota kBefore = per_minute(10).anchored_window();
  constexpr Quota kAfter = per(10, minutes{10}).anchored_window();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.wait(minutes{1});
  key.change_quota(kAfter);
  key.wait(minutes{9});
  EXPECT_EQ(key.take(1).reset_after(), minutes{10});
}

}  // namespace
}  // namespace penstock::core
