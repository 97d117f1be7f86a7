#include "core/gcra.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One request every 100 ms, five at once.
constexpr Quota kGcraQuota = per_second(10).burst(5).gcra();

TEST(Gcra, AllowsTheBurstAndThenOnePerInterval) {
  TestKey key(kGcraQuota);
  for (int request = 0; request < 5; ++request) EXPECT_TRUE(key.take().allowed());
  for (int request = 0; request < 20; ++request) {
    EXPECT_FALSE(key.take().allowed());
    key.wait(milliseconds{100});
    EXPECT_TRUE(key.take().allowed());
  }
}

TEST(Gcra, BurstOfOneAllowsOneRequest) {
  constexpr Quota kSingle = per_second(10).burst(1).gcra();
  TestKey key(kSingle);
  EXPECT_TRUE(key.take().allowed());
  EXPECT_EQ(key.take().retry_after(), milliseconds{100});
}

TEST(Gcra, AllowsExactlyAtRetryAfter) {
  TestKey key(kGcraQuota);
  ASSERT_TRUE(key.take(5).allowed());
  const Duration retry = key.take(2).retry_after().value();
  EXPECT_EQ(retry, milliseconds{200});
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(2).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(2).allowed());
}

TEST(Gcra, ReportsTheTimeUntilIdle) {
  TestKey key(kGcraQuota);
  EXPECT_EQ(key.take(3).reset_after(), milliseconds{300});
  key.wait(milliseconds{299});
  EXPECT_EQ(key.reset_after(), milliseconds{1});
  key.wait(milliseconds{1});
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(Gcra, CostAboveTheBurstNeverFits) {
  TestKey key(kGcraQuota);
  const Decision decision = key.take(6);
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.remaining(), 5U);
  EXPECT_EQ(decision.retry_after(), std::nullopt);
  EXPECT_EQ(key.state(), AnyState{});
}

TEST(Gcra, IdlingSavesUpOneBurstNotTwo) {
  TestKey key(kGcraQuota);
  ASSERT_TRUE(key.take(5).allowed());
  key.wait(Days{1});
  int admitted = 0;
  while (key.take().allowed()) ++admitted;
  EXPECT_EQ(admitted, 5);
}

TEST(Gcra, IsExactWhenAnIntervalIsShorterThanATick) {
  constexpr Quota kFast = per_second(3'000'000).burst(4).gcra();
  TestKey key(kFast);
  std::int64_t admitted = 0;
  for (int tick = 0; tick <= 100'000; ++tick) {
    while (key.take().allowed()) ++admitted;
    key.wait(Duration{1});
  }
  EXPECT_EQ(admitted, 300'004);
}

TEST(Gcra, AgreesWithTheTokenBucketOfTheSameNumbers) {
  constexpr Quota kBucket = per_second(10).burst(5);
  TestKey gcra(kGcraQuota);
  TestKey bucket(kBucket);
  for (int step = 0; step < 1'000; ++step) {
    const auto cost = static_cast<std::uint64_t>(step % 7);
    EXPECT_EQ(gcra.take(cost), bucket.take(cost));
    const Duration pause{step * 1'237 % 150'000};
    gcra.wait(pause);
    bucket.wait(pause);
  }
}

TEST(Gcra, RefundMovesTheIdleTimeBackToNowAtMost) {
  TestKey key(kGcraQuota);
  ASSERT_TRUE(key.take(4).allowed());
  key.refund(1);
  EXPECT_EQ(key.remaining(), 2U);
  EXPECT_EQ(key.reset_after(), milliseconds{300});
  key.refund(100);
  EXPECT_EQ(key.remaining(), 5U);
}

TEST(Gcra, AClockThatStepsBackMakesItStricter) {
  TestKey key(kGcraQuota);
  ASSERT_TRUE(key.take(2).allowed());
  key.step_clock_back(milliseconds{100});
  EXPECT_EQ(key.remaining(), 2U) << "200 ms owed, and 100 ms more to get there";
  EXPECT_EQ(key.reset_after(), milliseconds{300});
}

TEST(Gcra, AClockThatStepsBackFarBlocksForOneRefillAtMost) {
  TestKey key(kGcraQuota);
  ASSERT_TRUE(key.take(1).allowed());
  key.step_clock_back(Days{30});
  const Decision denied = key.take(5);
  EXPECT_EQ(denied.remaining(), 0U);
  EXPECT_EQ(denied.retry_after(), milliseconds{500});
  key.wait(milliseconds{500});
  EXPECT_TRUE(key.take(5).allowed());
}

TEST(Gcra, ExpiresWhenItIsIdle) {
  constexpr Quota kOdd = per_second(3).burst(5).gcra();
  TestKey key(kOdd);
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(expires_at(key.state(), kOdd), key.now() + Duration{333'334}) << "rounded up";
}

}  // namespace
}  // namespace penstock::core
