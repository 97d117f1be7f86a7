#include "core/sliding_log.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::seconds;

constexpr Quota kLogQuota = per(5, seconds{10}).sliding_log();

TEST(SlidingLog, AnAdmissionCountsForExactlyOnePeriod) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(5).allowed());
  key.wait(seconds{10} - Duration{1});
  EXPECT_EQ(key.remaining(), 0U);
  key.wait(Duration{1});
  EXPECT_EQ(key.remaining(), 5U);
}

TEST(SlidingLog, HoldsAcrossWhatWouldBeAWindowBoundary) {
  TestKey key(kLogQuota);
  key.wait(seconds{9});
  ASSERT_TRUE(key.take(5).allowed());
  key.wait(seconds{2});
  EXPECT_FALSE(key.take(1).allowed());
}

TEST(SlidingLog, RetryAfterWaitsForAsManyAsTheCostNeeds) {
  TestKey key(kLogQuota);
  for (int second = 0; second < 5; ++second) {
    ASSERT_TRUE(key.take(1).allowed());
    key.wait(seconds{1});
  }
  // taken at 0, 1, 2, 3 and 4; now is 5
  EXPECT_EQ(key.take(1).retry_after(), seconds{5});
  EXPECT_EQ(key.take(3).retry_after(), seconds{7});
  EXPECT_EQ(key.take(5).retry_after(), seconds{9});
  EXPECT_EQ(key.reset_after(), seconds{9});
}

TEST(SlidingLog, AllowsExactlyAtRetryAfter) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(2).allowed());
  key.wait(seconds{3});
  ASSERT_TRUE(key.take(3).allowed());
  const Duration retry = key.take(2).retry_after().value();
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(2).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(2).allowed());
}

TEST(SlidingLog, RequestsOfTheSameMicrosecondAllCount) {
  TestKey key(kLogQuota);
  for (int request = 0; request < 5; ++request) EXPECT_TRUE(key.take(1).allowed());
  EXPECT_FALSE(key.take(1).allowed());
}

TEST(SlidingLog, RequestsOfTheSameMicrosecondShareAnEntry) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(1).allowed());
  ASSERT_TRUE(key.take(3).allowed());
  EXPECT_EQ(std::get<SlidingLog::State>(key.state()).entries.size(), 1U);
  EXPECT_EQ(key.remaining(), 1U);
}

TEST(SlidingLog, ForgetsWhatIsOldBeforeItCounts) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(5).allowed());
  key.wait(seconds{10});
  EXPECT_EQ(key.take(5).remaining(), 0U);
}

TEST(SlidingLog, MemoryStaysWithinTwiceTheLimit) {
  TestKey key(kLogQuota);
  for (int second = 0; second < 10'000; ++second) {
    static_cast<void>(key.take(1));
    key.wait(seconds{1});
    EXPECT_LE(std::get<SlidingLog::State>(key.state()).entries.size(), 10U);
  }
}

TEST(SlidingLog, DenialsAreNotRemembered) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(5).allowed());
  for (int second = 0; second < 10; ++second) {
    EXPECT_FALSE(key.take(1).allowed());
    key.wait(seconds{1});
  }
  EXPECT_TRUE(key.take(5).allowed());
}

TEST(SlidingLog, CostAboveTheLimitNeverFits) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(1).allowed());
  const Decision decision = key.take(6);
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.remaining(), 4U);
  EXPECT_EQ(decision.reset_after(), seconds{10});
}

TEST(SlidingLog, RefundTakesBackTheNewestFirst) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(2).allowed());
  key.wait(seconds{4});
  ASSERT_TRUE(key.take(2).allowed());
  key.refund(3);
  EXPECT_EQ(key.remaining(), 4U);
  EXPECT_EQ(key.reset_after(), seconds{6}) << "what is left is the oldest";
  key.refund(100);
  EXPECT_EQ(key.remaining(), 5U);
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(SlidingLog, EntriesFromTheFutureCount) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(5).allowed());
  key.step_clock_back(seconds{4});
  const Decision denied = key.take(1);
  EXPECT_FALSE(denied.allowed());
  EXPECT_EQ(denied.retry_after(), seconds{14});
}

TEST(SlidingLog, WhileTheClockIsBehindAdmissionsAreStampedLikeTheNewest) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(1).allowed());
  key.step_clock_back(seconds{4});
  EXPECT_EQ(key.take(1).reset_after(), seconds{14});
}

TEST(SlidingLog, EntriesTooFarAheadAreStampedNow) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(2).allowed());
  key.wait(seconds{5});
  ASSERT_TRUE(key.take(2).allowed());
  key.step_clock_back(seconds{10});
  EXPECT_EQ(key.reset_after(), seconds{20}) << "a period ahead, and still waited for";
  key.step_clock_back(Duration{1});
  const Decision denied = key.take(2);
  EXPECT_EQ(denied.retry_after(), seconds{10});
  EXPECT_EQ(denied.remaining(), 1U);
}

TEST(SlidingLog, ExpiresAPeriodAfterTheNewest) {
  TestKey key(kLogQuota);
  ASSERT_TRUE(key.take(1).allowed());
  key.wait(seconds{3});
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(expires_at(key.state(), kLogQuota), key.now() + seconds{10});
}

}  // namespace
}  // namespace penstock::core
