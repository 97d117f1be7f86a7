#include "core/token_bucket.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One token every 600 ms.
constexpr Quota kBucketQuota = per_minute(100).burst(20);

TEST(TokenBucket, StartsFull) {
  const TestKey key(kBucketQuota);
  const Decision decision = key.would_take(1);
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.limit(), 20U);
  EXPECT_EQ(decision.remaining(), 19U);
  EXPECT_EQ(decision.reset_after(), milliseconds{600});
  EXPECT_EQ(decision.retry_after(), Duration{0});
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(TokenBucket, AllowsTheWholeBurstAtOnceAndNotOneMore) {
  TestKey key(kBucketQuota);
  for (int token = 0; token < 20; ++token) EXPECT_TRUE(key.take().allowed());
  const Decision denied = key.take();
  EXPECT_EQ(denied.outcome(), Outcome::Denied);
  EXPECT_EQ(denied.remaining(), 0U);
  EXPECT_EQ(denied.retry_after(), milliseconds{600});
  EXPECT_EQ(denied.reset_after(), seconds{12});
}

TEST(TokenBucket, AllowsExactlyAtRetryAfter) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  const Duration retry = key.take(3).retry_after().value();
  EXPECT_EQ(retry, milliseconds{1800});
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(3).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(3).allowed());
}

TEST(TokenBucket, RoundsRetryAfterUp) {
  constexpr Quota kSevenPerSecond = per_second(7).burst(1);  // a token every 142857.14 us
  TestKey key(kSevenPerSecond);
  ASSERT_TRUE(key.take().allowed());
  EXPECT_EQ(key.take().retry_after(), Duration{142'858});
  EXPECT_EQ(key.reset_after(), Duration{142'858});
}

TEST(TokenBucket, ChargesTheCost) {
  TestKey key(kBucketQuota);
  EXPECT_EQ(key.take(15).remaining(), 5U);
  EXPECT_FALSE(key.take(6).allowed());
  EXPECT_TRUE(key.take(5).allowed());
}

TEST(TokenBucket, CostAboveTheBurstNeverFits) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(2).allowed());
  const Decision decision = key.take(21);
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.retry_after(), std::nullopt);
  EXPECT_EQ(decision.remaining(), 18U);
  EXPECT_EQ(decision.reset_after(), milliseconds{1200});
  EXPECT_EQ(key.take(~std::uint64_t{0}).outcome(), Outcome::NeverFits);
  EXPECT_EQ(key.remaining(), 18U);
}

TEST(TokenBucket, CostZeroPeeksWithoutTaking) {
  TestKey key(kBucketQuota);
  EXPECT_TRUE(key.take(0).allowed());
  EXPECT_EQ(key.state(), AnyState{});
  ASSERT_TRUE(key.take(20).allowed());
  const AnyState drained = key.state();
  const Decision denied = key.take(0);
  EXPECT_EQ(denied.outcome(), Outcome::Denied);
  EXPECT_EQ(denied.retry_after(), milliseconds{600});
  EXPECT_EQ(key.state(), drained);
}

TEST(TokenBucket, DenialTakesNothing) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(18).allowed());
  const AnyState before = key.state();
  for (int attempt = 0; attempt < 100; ++attempt) EXPECT_FALSE(key.take(3).allowed());
  EXPECT_EQ(key.state(), before);
  EXPECT_EQ(key.remaining(), 2U);
}

TEST(TokenBucket, FillsNoFurtherThanTheBurst) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.wait(Days{365});
  EXPECT_EQ(key.remaining(), 20U);
  EXPECT_TRUE(key.take(20).allowed());
  EXPECT_FALSE(key.take(1).allowed());
}

TEST(TokenBucket, ReportsWholeTokensOnly) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.wait(milliseconds{1199});
  EXPECT_EQ(key.remaining(), 1U);
  key.wait(milliseconds{1});
  EXPECT_EQ(key.remaining(), 2U);
}

TEST(TokenBucket, KeepsTheFractionOfAToken) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.wait(milliseconds{900});
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(key.take(1).retry_after(), milliseconds{300});
}

// Limiters that keep a whole number of ticks per token are off by up to 66.7 % at these rates.
TEST(TokenBucket, IsExactAtRatesThatNoTickDivides) {
  for (const std::int64_t rate : {300, 700, 70'000, 600'000, 999'983}) {
    TestKey key(Quota::make(per_second(rate).burst(2)).value());
    std::int64_t admitted = 0;
    for (int tick = 0; tick <= 1'000'000; ++tick) {
      if (key.take().allowed()) ++admitted;
      key.wait(Duration{1});
    }
    EXPECT_EQ(admitted, rate + 2) << rate << " per second";
  }
}

TEST(TokenBucket, WorksWithManyTokensPerMicrosecond) {
  constexpr Quota kFast = per(1'000'000'000, milliseconds{1}).burst(1'000'000'000);
  TestKey key(kFast);
  EXPECT_EQ(key.take(1'000'000'000).reset_after(), milliseconds{1});
  EXPECT_EQ(key.take(1).retry_after(), Duration{1});
  EXPECT_EQ(key.take(1'000'001).retry_after(), Duration{2});
  key.wait(Duration{1});
  EXPECT_EQ(key.remaining(), 1'000'000U);
}

TEST(TokenBucket, WorksWithOneTokenPerYear) {
  constexpr Quota kSlow = per(1, Days{366}).burst(99);
  TestKey key(kSlow);
  EXPECT_EQ(key.take(99).reset_after(), 99 * Days{366});
  EXPECT_EQ(key.take(1).retry_after(), Days{366});
  key.wait(Days{366} - Duration{1});
  EXPECT_FALSE(key.take(1).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(1).allowed());
}

TEST(TokenBucket, StaysExactWhereABucketInUnitsLeaves64Bits) {
  // 10^9 tokens of 31622400000000 units each: 75 bits
  constexpr Quota kWide = per(999'999'937, Days{366}).burst(1'000'000'000);
  TestKey key(kWide);
  ASSERT_TRUE(key.take(1'000'000'000).allowed());
  EXPECT_EQ(key.take(1).retry_after(), Duration{31'623});  // 31622.40199... us
  key.wait(Duration{31'622});
  EXPECT_EQ(key.remaining(), 0U);
  key.wait(Duration{1});
  EXPECT_EQ(key.remaining(), 1U);
  key.wait(key.reset_after() - Duration{1});
  EXPECT_EQ(key.remaining(), 999'999'999U);
  key.wait(Duration{1});
  EXPECT_EQ(key.remaining(), 1'000'000'000U);
}

TEST(TokenBucket, RefundReturnsUpToTheBurst) {
  TestKey key(kBucketQuota);
  key.refund(5);
  EXPECT_EQ(key.state(), AnyState{}) << "nothing happens to an absent key";
  ASSERT_TRUE(key.take(10).allowed());
  key.refund(4);
  EXPECT_EQ(key.remaining(), 14U);
  key.refund(~std::uint64_t{0});
  EXPECT_EQ(key.remaining(), 20U);
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(TokenBucket, TimeStandsStillWhileTheClockIsBehind) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.step_clock_back(seconds{5});
  const Decision denied = key.take(1);
  EXPECT_EQ(denied.remaining(), 0U);
  EXPECT_EQ(denied.retry_after(), seconds{5} + milliseconds{600});
  key.wait(seconds{5});
  EXPECT_EQ(key.take(1).retry_after(), milliseconds{600});
}

TEST(TokenBucket, AClockThatReturnsIsNotCreditedTwice) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  for (int swing = 0; swing < 100; ++swing) {
    key.step_clock_back(seconds{10});
    EXPECT_FALSE(key.take(1).allowed());
    key.wait(seconds{10});
    EXPECT_FALSE(key.take(1).allowed());
  }
}

TEST(TokenBucket, AClockBehindByMoreThanARefillStartsFromNow) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(15).allowed());
  key.step_clock_back(seconds{12});
  EXPECT_EQ(key.take(6).retry_after(), seconds{12} + milliseconds{600}) << "still waited for";
  key.step_clock_back(Duration{1});
  EXPECT_EQ(key.take(6).retry_after(), milliseconds{600}) << "given up on, without credit";
  EXPECT_EQ(key.remaining(), 5U);
}

TEST(TokenBucket, KeepsTheNewTimeEvenWhenTheRequestWasDenied) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.step_clock_back(Days{1});
  ASSERT_FALSE(key.take(20).allowed());
  key.wait(milliseconds{600});
  EXPECT_TRUE(key.take(1).allowed());
}

TEST(TokenBucket, ExpiresWhenItIsFull) {
  TestKey key(kBucketQuota);
  ASSERT_TRUE(key.take(7).allowed());
  EXPECT_EQ(expires_at(key.state(), kBucketQuota), key.now() + milliseconds{4200});
}

}  // namespace
}  // namespace penstock::core
