#include "core/sub_windows.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::seconds;

// Parts of ten seconds.
constexpr Quota kPartsQuota = per_minute(60).sub_windows(6);

TEST(SubWindows, AnAdmissionCountsUntilItsPartCannotMatter) {
  TestKey key(kPartsQuota);
  key.wait(seconds{3});
  ASSERT_TRUE(key.take(60).allowed());
  key.wait(seconds{67} - Duration{1});
  EXPECT_EQ(key.remaining(), 0U) << "seven parts touch a minute";
  key.wait(Duration{1});
  EXPECT_EQ(key.remaining(), 60U);
}

TEST(SubWindows, AllowsExactlyAtRetryAfter) {
  TestKey key(kPartsQuota);
  key.wait(seconds{3});
  ASSERT_TRUE(key.take(60).allowed());
  const Duration retry = key.take(1).retry_after().value();
  EXPECT_EQ(retry, seconds{67});
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(1).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(1).allowed());
}

TEST(SubWindows, RetryAfterWaitsForAsManyPartsAsTheCostNeeds) {
  TestKey key(kPartsQuota);
  for (int part = 0; part < 6; ++part) {
    ASSERT_TRUE(key.take(10).allowed());
    key.wait(seconds{10});
  }
  // at the start of the seventh part
  EXPECT_EQ(key.take(1).retry_after(), seconds{10});
  EXPECT_EQ(key.take(10).retry_after(), seconds{10});
  EXPECT_EQ(key.take(11).retry_after(), seconds{20});
  EXPECT_EQ(key.take(60).retry_after(), seconds{60});
  EXPECT_EQ(key.reset_after(), seconds{60});
}

TEST(SubWindows, GivesUpAtMostOnePartOfTheRate) {
  TestKey key(kPartsQuota);
  std::int64_t admitted = 0;
  for (int second = 0; second < 7'000; ++second) {
    while (key.take(1).allowed()) ++admitted;
    key.wait(seconds{1});
  }
  EXPECT_EQ(admitted, 6'000) << "6/7 of 60 a minute";
}

TEST(SubWindows, NeverMoreThanTheLimitAcrossABoundary) {
  TestKey key(kPartsQuota);
  key.wait(seconds{60} - Duration{1});
  ASSERT_TRUE(key.take(60).allowed());
  key.wait(Duration{1});
  EXPECT_FALSE(key.take(1).allowed());
}

TEST(SubWindows, CostZeroPeeksWithoutTaking) {
  TestKey key(kPartsQuota);
  EXPECT_TRUE(key.take(0).allowed());
  EXPECT_EQ(key.state(), AnyState{});
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(SubWindows, CostAboveTheLimitNeverFits) {
  TestKey key(kPartsQuota);
  ASSERT_TRUE(key.take(1).allowed());
  const Decision decision = key.take(61);
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.remaining(), 59U);
  EXPECT_EQ(decision.reset_after(), seconds{70});
}

TEST(SubWindows, RefundTakesBackTheNewestFirst) {
  TestKey key(kPartsQuota);
  ASSERT_TRUE(key.take(10).allowed());
  key.wait(seconds{20});
  ASSERT_TRUE(key.take(10).allowed());
  key.refund(15);
  EXPECT_EQ(key.remaining(), 55U);
  EXPECT_EQ(key.reset_after(), seconds{50}) << "what is left is the oldest";
}

TEST(SubWindows, IsLikeAbsentWhenEverythingWasRefunded) {
  TestKey key(kPartsQuota);
  key.wait(seconds{10});
  ASSERT_TRUE(key.take(10).allowed());
  key.refund(1'000);
  EXPECT_EQ(key.reset_after(), Duration{0});
  EXPECT_EQ(std::get<SubWindows::State>(key.state()).counts.size(), 0U);
  key.step_clock_back(seconds{10});
  EXPECT_EQ(key.take(1).reset_after(), seconds{70}) << "not held by a part from the future";
}

TEST(SubWindows, ANewestPartFromTheFutureStaysTheNewest) {
  TestKey key(kPartsQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.step_clock_back(seconds{60});
  const Decision allowed = key.take(20);
  EXPECT_EQ(allowed.remaining(), 20U);
  EXPECT_EQ(allowed.reset_after(), seconds{130});
}

TEST(SubWindows, ANewestPartTooFarAheadIsMovedToNow) {
  TestKey key(kPartsQuota);
  ASSERT_TRUE(key.take(20).allowed());
  key.step_clock_back(seconds{61});
  const Decision denied = key.take(41);
  EXPECT_EQ(denied.remaining(), 40U);
  EXPECT_EQ(denied.retry_after(), seconds{61});
}

TEST(SubWindows, ExpiresWhenItsNewestPartCannotMatter) {
  TestKey key(kPartsQuota);
  key.wait(seconds{3});
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(expires_at(key.state(), kPartsQuota), key.now() + seconds{67});
}

}  // namespace
}  // namespace penstock::core
