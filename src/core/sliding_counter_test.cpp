#include "core/sliding_counter.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::seconds;

constexpr Quota kCounterQuota = per_minute(100).sliding_counter();

TEST(SlidingCounter, WeighsTheLastWindowByWhatIsLeftOfIt) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(80).allowed());
  key.wait(seconds{60 + 15});
  // 80 * 45 / 60 = 60
  EXPECT_EQ(key.remaining(), 40U);
  EXPECT_FALSE(key.take(41).allowed());
  EXPECT_TRUE(key.take(40).allowed());
}

TEST(SlidingCounter, RoundsTheWeightAgainstTheKey) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(80).allowed());
  key.wait(seconds{60 + 15} + Duration{1});
  EXPECT_EQ(key.remaining(), 40U) << "59.99999 counts as 60";
  key.wait(Duration{749'999});
  EXPECT_EQ(key.remaining(), 41U) << "80 * 44.25 / 60 = 59 exactly";
  key.step_clock_back(Duration{1});
  EXPECT_EQ(key.remaining(), 40U);
}

TEST(SlidingCounter, AllowsExactlyAtRetryAfterWithinTheWindow) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(100).allowed());
  key.wait(seconds{60});
  const Duration retry = key.take(3).retry_after().value();
  EXPECT_EQ(retry, Duration{1'800'000});  // 100 * (60 - 1.8) / 60 = 97
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(3).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(3).allowed());
}

TEST(SlidingCounter, AllowsExactlyAtRetryAfterInTheNextWindow) {
  TestKey key(kCounterQuota);
  key.wait(seconds{20});
  ASSERT_TRUE(key.take(100).allowed());
  const Duration retry = key.take(50).retry_after().value();
  EXPECT_EQ(retry, seconds{40 + 30});
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(50).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(50).allowed());
}

TEST(SlidingCounter, WholeLimitWaitsForTwoWindows) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(key.take(100).retry_after(), seconds{120});
}

TEST(SlidingCounter, ChargesTheCost) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(99).allowed());
  EXPECT_FALSE(key.take(2).allowed());
  EXPECT_TRUE(key.take(1).allowed());
}

TEST(SlidingCounter, LetsAlmostTwiceTheLimitPassInOnePeriod) {
  constexpr Quota kTen = per(10, seconds{10}).sliding_counter();
  TestKey key(kTen);
  key.wait(seconds{10} - Duration{1});
  ASSERT_TRUE(key.take(10).allowed());
  int admitted = 10;
  for (int step = 0; step < 99; ++step) {
    key.wait(Duration{100'000});
    while (key.take(1).allowed()) ++admitted;
  }
  EXPECT_EQ(admitted, 19);
}

TEST(SlidingCounter, ReportsWhenNothingCountsAnyMore) {
  TestKey key(kCounterQuota);
  EXPECT_EQ(key.reset_after(), Duration{0});
  key.wait(seconds{10});
  EXPECT_EQ(key.take(1).reset_after(), seconds{110});
  key.wait(seconds{60});
  EXPECT_EQ(key.reset_after(), seconds{50});
  key.wait(seconds{50});
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(SlidingCounter, ForgetsAWindowThatIsTwoBack) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(100).allowed());
  key.wait(seconds{120});
  EXPECT_EQ(key.take(100).remaining(), 0U);
}

TEST(SlidingCounter, CostAboveTheLimitNeverFits) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(1).allowed());
  const Decision decision = key.take(101);
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.remaining(), 99U);
  EXPECT_EQ(key.take(std::uint64_t{1} << 32U).outcome(), Outcome::NeverFits)
      << "not cut to 32 bits";
}

TEST(SlidingCounter, RefundTakesBackTheNewestFirst) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(60).allowed());
  key.wait(seconds{90});
  ASSERT_TRUE(key.take(20).allowed());
  key.refund(30);
  EXPECT_EQ(key.remaining(), 75U) << "20 of this window, and 10 of the last: (60 - 10) / 2 count";
  key.refund(1'000);
  EXPECT_EQ(key.remaining(), 100U);
}

TEST(SlidingCounter, DoesNotOverflowAtTheLargestLimit) {
  constexpr Quota kLargest = per(1'000'000'000, Days{366}).sliding_counter();
  TestKey key(kLargest);
  ASSERT_TRUE(key.take(1'000'000'000).allowed());
  const Duration left = Days{366} - key.now().time_since_epoch() % Days{366};
  EXPECT_EQ(key.take(500'000'000).retry_after(), left + Days{183});
}

TEST(SlidingCounter, AWindowFromTheFutureIsTheCurrentOneWithTheLastInFull) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(60).allowed());
  key.wait(seconds{90});
  ASSERT_TRUE(key.take(10).allowed());
  key.step_clock_back(seconds{40});
  EXPECT_EQ(key.remaining(), 30U);
}

TEST(SlidingCounter, AWindowTooFarAheadIsMovedToNow) {
  TestKey key(kCounterQuota);
  ASSERT_TRUE(key.take(60).allowed());
  key.step_clock_back(seconds{60});
  EXPECT_EQ(key.reset_after(), seconds{180}) << "a period ahead, and kept";
  key.step_clock_back(seconds{1});
  EXPECT_EQ(key.take(41).remaining(), 40U);
  EXPECT_EQ(key.reset_after(), seconds{61});
}

TEST(SlidingCounter, ExpiresWhenTheCurrentWindowHasSlidOut) {
  TestKey key(kCounterQuota);
  key.wait(seconds{10});
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(expires_at(key.state(), kCounterQuota), key.now() + seconds{110});
}

}  // namespace
}  // namespace penstock::core
