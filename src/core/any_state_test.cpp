#include "core/any_state.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

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

TEST(Algorithms, AllAreListedInTheOrderOfTheEnumeration) {
  std::string names;
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kAlgorithms[i]), i);
    names += (i == 0 ? "" : ", ") + std::string(to_string(kAlgorithms[i]));
  }
  // the error lists all names
  EXPECT_NE(parse_algorithm("unknown").error().detail.find("use one of " + names),
            std::string::npos);
  EXPECT_EQ(kAlgorithms.size(), kEveryAlgorithm.size());
}

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
TEST(AnyState, ForgettingAnExpiredStateForgetsNoUsage) {
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

TEST(TwoQuotas, WhatWasUsedStaysUsedUnderEveryOtherAlgorithm) {
  for (const Quota& from : kEveryAlgorithm) {
    for (const Quota& to : kEveryAlgorithm) {
      TestKey key(from);
      ASSERT_TRUE(key.take(4).allowed());
      key.change_quota(to);
      EXPECT_EQ(key.remaining(), 6U) << to_string(from) << " -> " << to_string(to);
    }
  }
}

TEST(TwoQuotas, ALargerBurstDoesNotRefillTheBucket) {
  constexpr Quota kBefore = per_minute(60).burst(10);
  constexpr Quota kAfter = per_minute(60).burst(100);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.change_quota(kAfter);
  EXPECT_EQ(key.remaining(), 90U);
}

// 80 used of 100 are 70 too many for a burst of 10, and drain at the rate they were admitted under.
TEST(TwoQuotas, UsageAboveASmallerBurstDrainsUntilTheRequestFits) {
  constexpr Quota kBefore = per_minute(60).burst(100);
  constexpr Quota kAfter = per_minute(120).burst(10);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(80).allowed());
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1), Decision::deny(10, 0, seconds{80}, seconds{71}));
  key.wait(seconds{71} - Duration{1});
  EXPECT_FALSE(key.take(1).allowed());
  key.wait(Duration{1});
  EXPECT_EQ(key.take(1), Decision::allow(10, 0, seconds{5}))
      << "adopted: 10 tokens at 2 per second";
}

TEST(TwoQuotas, ABucketKeepsItsFractionOfAToken) {
  constexpr Quota kBefore = per_second(1).burst(5);
  constexpr Quota kAfter = per_second(2).burst(6);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(5).allowed());
  key.wait(milliseconds{750});
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).reset_after(), milliseconds{2625}) << "4.25 + 1 tokens, at the new rate";
}

TEST(TwoQuotas, AFractionThatDoesNotFitTheNewRateRoundsAgainstTheKey) {
  constexpr Quota kBefore = per_second(3).burst(2);
  constexpr Quota kAfter = per_second(1).burst(3);
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(2).allowed());
  key.wait(Duration{1});
  // 1.999997 tokens are used, which is 1.999997 s exactly
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).reset_after(), Duration{2'999'997});
}

TEST(TwoQuotas, AWindowKeepsItsCountersWhenOnlyTheLimitChanges) {
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

TEST(TwoQuotas, ALoweredWindowLimitReportsNoneRemaining) {
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

TEST(TwoQuotas, AClockFarBehindHoldsNoMoreThanTheOldBurst) {
  constexpr Quota kBefore = per_minute(60).burst(5).gcra();
  constexpr Quota kAfter = per_minute(60).burst(100).gcra();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(1).allowed());
  key.step_clock_back(Days{1});
  key.change_quota(kAfter);
  EXPECT_EQ(key.remaining(), 95U);
}

TEST(TwoQuotas, ALongerPeriodCountsUsageAsTakenAtTheAdmission) {
  constexpr Quota kBefore = per_minute(10).anchored_window();
  constexpr Quota kAfter = per(20, minutes{10}).anchored_window();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.wait(seconds{50});
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(10), Decision::allow(20, 0, minutes{10}));
  EXPECT_EQ(key.take(1).retry_after(), minutes{10});
}

TEST(TwoQuotas, ADenialKeepsTheWindowThatUsageWasChargedIn) {
  constexpr Quota kBefore = per_minute(10).anchored_window();
  constexpr Quota kAfter = per(10, minutes{10}).anchored_window();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.wait(seconds{50});
  key.change_quota(kAfter);
  EXPECT_EQ(key.take(1).retry_after(), seconds{10});
}

TEST(TwoQuotas, AShorterPeriodForgetsNothingSooner) {
  for (const Quota& before : kEveryAlgorithm) {
    if (before.is_bucket()) continue;
    constexpr Quota kAfter = per_second(8).fixed_window();
    TestKey key(before);
    ASSERT_TRUE(key.take(5).allowed());
    const Duration forgotten_after = key.reset_after();
    key.change_quota(kAfter);
    EXPECT_EQ(key.take(1), Decision::allow(8, 2, forgotten_after)) << to_string(before);
    key.wait(seconds{2});
    EXPECT_EQ(key.take(3).outcome(), Outcome::Denied) << to_string(before);
    EXPECT_EQ(key.take(2), Decision::allow(8, 0, forgotten_after - seconds{2}));
    key.wait(forgotten_after - seconds{2} - Duration{1});
    EXPECT_FALSE(key.take(1).allowed()) << to_string(before);
    key.wait(Duration{1});
    EXPECT_EQ(key.take(8).reset_after(), seconds{1}) << to_string(before) << ": adopted";
  }
}

TEST(TwoQuotas, AnExpiredWindowStartsNoNewOne) {
  constexpr Quota kBefore = per_minute(10).anchored_window();
  constexpr Quota kAfter = per(10, minutes{10}).anchored_window();
  TestKey key(kBefore);
  ASSERT_TRUE(key.take(10).allowed());
  key.wait(minutes{1});
  key.change_quota(kAfter);
  key.wait(minutes{9});
  EXPECT_EQ(key.take(1).reset_after(), minutes{10});
}

// The bypass: a looser quota fills the key, a request under a stricter one is denied, and the
// looser one finds room again.
TEST(TwoQuotas, ADenialAPeekAndARefundOfNothingChangeNothing) {
  for (const Quota& loose : kEveryAlgorithm) {
    for (const Quota& strict :
         {Quota{per_minute(3)}, Quota{per(3, minutes{5}).gcra()},
          Quota{per_second(3).fixed_window()}, Quota{per_hour(3).sliding_log()},
          Quota{per_hour(3).sliding_counter()}}) {
      TestKey key(loose);
      ASSERT_TRUE(key.take(10).allowed());
      const AnyState before = key.state();
      key.change_quota(strict);
      EXPECT_FALSE(key.take(1).allowed());
      EXPECT_FALSE(key.take(0).allowed());
      key.refund(0);
      EXPECT_EQ(used(key.state(), key.owner(), key.now()), used(before, loose, key.now()));
      EXPECT_EQ(key.owner(), loose);
      key.change_quota(loose);
      EXPECT_FALSE(key.take(1).allowed()) << to_string(loose) << " after " << to_string(strict);
    }
  }
}

TEST(TwoQuotas, ARefundLowersUsageAndAdoptsNothing) {
  constexpr Quota kLoose = per_minute(100);
  constexpr Quota kStrict = per_minute(10);
  TestKey key(kLoose);
  ASSERT_TRUE(key.take(80).allowed());
  key.change_quota(kStrict);
  key.refund(50);
  EXPECT_EQ(key.owner(), kLoose);
  EXPECT_EQ(used(key.state(), key.owner(), key.now()), 30U);
}

}  // namespace
}  // namespace penstock::core
