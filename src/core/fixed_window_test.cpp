#include "core/fixed_window.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Quota kAligned = per_minute(10).fixed_window();
constexpr Quota kAnchored = per_minute(10).anchored_window();

TEST(FixedWindow, CountsUpToTheLimitInAWindow) {
  TestKey key(kAligned);
  EXPECT_EQ(key.take(4).remaining(), 6U);
  EXPECT_EQ(key.take(6).remaining(), 0U);
  const Decision denied = key.take(1);
  EXPECT_EQ(denied.outcome(), Outcome::Denied);
  EXPECT_EQ(denied.limit(), 10U);
  EXPECT_EQ(denied.retry_after(), minutes{1});
  EXPECT_EQ(denied.reset_after(), minutes{1});
}

TEST(FixedWindow, AllowsExactlyAtRetryAfter) {
  TestKey key(kAligned);
  key.wait(seconds{13});
  ASSERT_TRUE(key.take(10).allowed());
  const Duration retry = key.take(1).retry_after().value();
  EXPECT_EQ(retry, seconds{47});
  key.wait(retry - Duration{1});
  EXPECT_FALSE(key.take(1).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(1).allowed());
}

TEST(FixedWindow, LetsTwiceTheLimitPassAcrossABoundary) {
  TestKey key(kAligned);
  key.wait(seconds{60} - Duration{1});
  EXPECT_TRUE(key.take(10).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(10).allowed());
  EXPECT_FALSE(key.take(1).allowed());
}

TEST(FixedWindow, ChargesTheCost) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(8).allowed());
  EXPECT_FALSE(key.take(3).allowed());
  EXPECT_TRUE(key.take(2).allowed());
}

TEST(FixedWindow, CostAboveTheLimitNeverFits) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(3).allowed());
  const Decision decision = key.take(11);
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.remaining(), 7U);
  EXPECT_EQ(decision.reset_after(), minutes{1});
}

TEST(FixedWindow, CostZeroPeeksWithoutOpeningAWindow) {
  TestKey key(kAnchored);
  EXPECT_TRUE(key.take(0).allowed());
  EXPECT_EQ(key.state(), AnyState{});
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(FixedWindow, ClientsThatPersistAreServedInTheNextWindow) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(10).allowed());
  for (int second = 0; second < 60; ++second) {
    EXPECT_FALSE(key.take().allowed()) << "denials are not charged";
    key.wait(seconds{1});
  }
  EXPECT_EQ(key.take().remaining(), 9U);
}

TEST(FixedWindow, KeepsAWindowFromTheFuture) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(10).allowed());
  key.step_clock_back(seconds{30});
  const Decision denied = key.take(1);
  EXPECT_FALSE(denied.allowed()) << "otherwise every step back would be a fresh limit";
  EXPECT_EQ(denied.retry_after(), seconds{90});
}

TEST(FixedWindow, MovesAWindowThatIsTooFarAhead) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(10).allowed());
  key.step_clock_back(minutes{1});
  EXPECT_EQ(key.take(1).retry_after(), minutes{2}) << "ends two periods ahead, and is kept";
  key.step_clock_back(Duration{1});
  EXPECT_EQ(key.take(1).retry_after(), Duration{1}) << "moved to the window of now, with its count";
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(10).allowed());
}

TEST(FixedWindow, RefundLowersTheCount) {
  TestKey key(kAligned);
  key.refund(3);
  EXPECT_EQ(key.state(), AnyState{});
  ASSERT_TRUE(key.take(9).allowed());
  key.refund(4);
  EXPECT_EQ(key.remaining(), 5U);
  key.refund(~std::uint64_t{0});
  EXPECT_EQ(key.remaining(), 10U);
  EXPECT_EQ(key.reset_after(), Duration{0});
}

TEST(FixedWindow, RefundAfterTheWindowGivesNothing) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(9).allowed());
  key.wait(minutes{1});
  key.refund(9);
  EXPECT_EQ(key.remaining(), 10U);
}

TEST(FixedWindow, RefundAfterTheWindowDoesNotHoldTheNextOneWhenTheClockStepsBack) {
  TestKey key(kAligned);
  ASSERT_TRUE(key.take(1).allowed());
  key.wait(minutes{1});
  key.refund(1);
  key.step_clock_back(Duration{1});
  EXPECT_EQ(key.take(1).reset_after(), Duration{1});
}

TEST(FixedWindow, ExpiresWithTheWindow) {
  TestKey key(kAligned);
  key.wait(seconds{59});
  ASSERT_TRUE(key.take(1).allowed());
  EXPECT_EQ(expires_at(key.state(), kAligned), key.now() + seconds{1});
}

TEST(AnchoredWindow, StartsAtTheFirstRequest) {
  TestKey key(kAnchored);
  key.wait(seconds{13});
  ASSERT_TRUE(key.take(10).allowed());
  EXPECT_EQ(key.take(1).retry_after(), minutes{1});
  key.wait(minutes{1} - Duration{1});
  EXPECT_FALSE(key.take(1).allowed());
  key.wait(Duration{1});
  EXPECT_TRUE(key.take(10).allowed());
}

TEST(AnchoredWindow, TheNextOneStartsAtTheNextRequestNotAtTheEnd) {
  TestKey key(kAnchored);
  ASSERT_TRUE(key.take(1).allowed());
  key.wait(seconds{95});
  EXPECT_EQ(key.take(1).reset_after(), minutes{1});
}

TEST(AnchoredWindow, StartsAnewWhenItsOnlyRequestWasRefunded) {
  TestKey key(kAnchored);
  ASSERT_TRUE(key.take(1).allowed());
  key.wait(seconds{20});
  key.refund(1);
  EXPECT_EQ(key.take(1).reset_after(), minutes{1});
}

TEST(AnchoredWindow, IsNotStartedByARefund) {
  TestKey key(kAnchored);
  ASSERT_TRUE(key.take(1).allowed());
  key.wait(minutes{1});
  key.refund(1);
  key.wait(seconds{30});
  EXPECT_EQ(key.take(1).reset_after(), minutes{1});
}

TEST(AnchoredWindow, MovesAWindowThatIsTooFarAheadToStartNow) {
  TestKey key(kAnchored);
  ASSERT_TRUE(key.take(7).allowed());
  key.step_clock_back(minutes{5});
  const Decision denied = key.take(4);
  EXPECT_EQ(denied.remaining(), 3U);
  EXPECT_EQ(denied.retry_after(), minutes{1});
}

}  // namespace
}  // namespace penstock::core
