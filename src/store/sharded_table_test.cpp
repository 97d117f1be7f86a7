#include "store/sharded_table.hpp"

#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::quota_of;
using reference::ten_in_ten_seconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ShardedTableOf : public ::testing::TestWithParam<Algorithm> {
 protected:
  ManualStore store_;
  Quota quota_ = ten_in_ten_seconds(GetParam());
};

INSTANTIATE_TEST_SUITE_P(, ShardedTableOf, ::testing::ValuesIn(kAlgorithms), reference::name_of);

TEST_P(ShardedTableOf, AdmitsTheLimitAtOnceAndNoMore) {
  for (int i = 0; i < 10; ++i) {
    const Decision decision = store_.check("k", quota_);
    EXPECT_TRUE(decision.allowed());
    EXPECT_EQ(decision.remaining(), static_cast<std::uint32_t>(9 - i));
    EXPECT_EQ(decision.limit(), 10U);
  }
  const Decision denied = store_.check("k", quota_);
  EXPECT_EQ(denied.outcome(), Outcome::Denied);
  EXPECT_EQ(denied.remaining(), 0U);
}

TEST_P(ShardedTableOf, DeniesUntilRetryAfterAndAllowsAtIt) {
  store_.clock.advance(milliseconds{1234});
  store_.take("k", quota_, 10);
  const Decision denied = store_.check("k", quota_, 3);
  ASSERT_EQ(denied.outcome(), Outcome::Denied);
  ASSERT_GT(*denied.retry_after(), Duration{1});
  store_.clock.advance(*denied.retry_after() - Duration{1});
  EXPECT_FALSE(store_.check("k", quota_, 3).allowed());
  store_.clock.advance(Duration{1});
  EXPECT_TRUE(store_.check("k", quota_, 3).allowed());
}

TEST_P(ShardedTableOf, IsFullAgainAfterResetAfter) {
  store_.clock.advance(milliseconds{777});
  store_.take("k", quota_, 7);
  const Decision before = store_.peek("k", quota_);
  EXPECT_EQ(before.remaining(), 3U);
  store_.clock.advance(before.reset_after());
  EXPECT_EQ(store_.peek("k", quota_), store_.peek("never checked", quota_));
}

TEST_P(ShardedTableOf, KeepsKeysApart) {
  store_.take("k", quota_, 10);
  EXPECT_EQ(store_.remaining("other", quota_), 10U);
  EXPECT_EQ(store_.remaining("", quota_), 10U);
  EXPECT_EQ(store_.remaining(std::string(1000, 'k'), quota_), 10U);
}

TEST_P(ShardedTableOf, APeekTakesNothingAndIsAllowedWhenCostOneWouldBe) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(store_.peek("k", quota_).allowed());
  EXPECT_EQ(store_.store.stats().keys, 0U) << "a look remembers nothing";
  store_.take("k", quota_, 9);
  EXPECT_TRUE(store_.peek("k", quota_).allowed());
  store_.take("k", quota_);
  EXPECT_EQ(store_.peek("k", quota_), store_.peek("k", quota_));
  EXPECT_EQ(store_.peek("k", quota_).outcome(), Outcome::Denied);
}

TEST_P(ShardedTableOf, ACostBeyondTheCapacityNeverFitsAndTakesNothing) {
  for (const std::uint64_t cost : {std::uint64_t{11}, std::uint64_t{1} << 32U, ~std::uint64_t{0}}) {
    const Decision decision = store_.check("k", quota_, cost);
    EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
    EXPECT_EQ(decision.retry_after(), std::nullopt);
    EXPECT_EQ(decision.remaining(), 10U);
  }
  EXPECT_EQ(store_.store.stats().keys, 0U);
}

TEST_P(ShardedTableOf, ADenialTakesNothing) {
  store_.take("k", quota_, 6);
  const Decision before = store_.peek("k", quota_);
  EXPECT_FALSE(store_.check("k", quota_, 5).allowed());
  EXPECT_EQ(store_.peek("k", quota_), before);
}

TEST_P(ShardedTableOf, RefundReturnsUpToWhatWasUsed) {
  store_.take("k", quota_, 6);
  EXPECT_EQ(store_.store.refund("k", quota_, Cost{4}).remaining(), 8U);
  const Decision after = store_.store.refund("k", quota_, Cost{1'000'000'000'000});
  EXPECT_EQ(after.remaining(), 10U);
  EXPECT_EQ(after.reset_after(), Duration{0});
  EXPECT_EQ(after, store_.peek("k", quota_));
}

TEST_P(ShardedTableOf, RefundingAnUnknownKeyChangesNothing) {
  EXPECT_EQ(store_.store.refund("k", quota_, Cost{4}).remaining(), 10U);
  EXPECT_EQ(store_.store.stats().keys, 0U);
}

TEST_P(ShardedTableOf, RefundingNothingChangesNothing) {
  store_.take("k", quota_, 6);
  const Decision before = store_.peek("k", quota_);
  EXPECT_EQ(store_.store.refund("k", quota_, Cost{0}), before);
  EXPECT_EQ(store_.peek("k", quota_), before);
}

TEST_P(ShardedTableOf, ResetForgetsWhatWasUsedAndSaysWhetherThereWasAnything) {
  EXPECT_FALSE(store_.store.reset("k"));
  store_.take("k", quota_, 6);
  EXPECT_TRUE(store_.store.reset("k"));
  EXPECT_EQ(store_.remaining("k", quota_), 10U);
  EXPECT_EQ(store_.store.stats().keys, 0U);
  EXPECT_FALSE(store_.store.reset("k"));
}

TEST_P(ShardedTableOf, ResetFindsNothingInAKeyThatHasExpired) {
  store_.take("k", quota_, 6);
  store_.clock.advance(store_.peek("k", quota_).reset_after());
  EXPECT_FALSE(store_.store.reset("k"));
}

TEST_P(ShardedTableOf, ResetFindsNothingInAKeyThatWasRefundedInFull) {
  store_.take("k", quota_, 6);
  store_.store.refund("k", quota_, Cost{6});
  EXPECT_FALSE(store_.store.reset("k"));
}

TEST_P(ShardedTableOf, TimeStandsStillWhileTheClockIsBehind) {
  store_.clock.advance(milliseconds{4321});
  store_.take("k", quota_, 7);
  const Decision before = store_.peek("k", quota_);
  for (const Duration back :
       {Duration{1}, Duration{seconds{3}}, Duration{seconds{100}}, Duration{Days{1000}}}) {
    store_.clock.advance(-back);
    EXPECT_EQ(store_.peek("k", quota_), before);
    EXPECT_EQ(store_.check("k", quota_, 4).outcome(), Outcome::Denied);
    store_.clock.advance(back);
  }
  store_.clock.set(Instant{Duration{-5}});
  EXPECT_EQ(store_.peek("k", quota_), before);
}

TEST_P(ShardedTableOf, AClockThatStepsBackAndReturnsGivesNothingAway) {
  store_.take("k", quota_, 10);
  for (int i = 0; i < 10; ++i) {
    store_.clock.advance(-seconds{60});
    EXPECT_FALSE(store_.check("k", quota_).allowed());
    store_.clock.advance(seconds{60});
    EXPECT_FALSE(store_.check("k", quota_).allowed());
  }
}

TEST_P(ShardedTableOf, WorksAtTheBeginningOfTime) {
  store_.clock.set(Instant{Duration{-1'000'000}});
  store_.take("k", quota_, 10);
  EXPECT_FALSE(store_.check("k", quota_).allowed());
  store_.clock.set(Instant{seconds{40}});
  EXPECT_TRUE(store_.check("k", quota_, 10).allowed());
}

TEST_P(ShardedTableOf, APeekUnderAnotherQuotaChangesNothing) {
  store_.clock.advance(milliseconds{1111});
  store_.take("k", quota_, 4);
  store_.clock.advance(milliseconds{333});
  const Decision before = store_.peek("k", quota_);
  for (const Algorithm algorithm : kAlgorithms) {
    for (const std::int64_t limit : {1, 10, 1000}) {
      for (const Duration period :
           {Duration{seconds{1}}, Duration{seconds{10}}, Duration{Days{1}}}) {
        const Quota other = quota_of(limit, period, algorithm);
        const Decision look = store_.peek("k", other);
        EXPECT_EQ(look.limit(), other.capacity());
        EXPECT_EQ(store_.peek("k", quota_), before) << to_string(other);
      }
    }
  }
}

TEST_P(ShardedTableOf, RaisingTheLimitKeepsWhatWasUsed) {
  store_.take("k", quota_, 10);
  const Quota raised = quota_of(25, seconds{10}, GetParam());
  EXPECT_EQ(store_.remaining("k", raised), 15U);
  EXPECT_TRUE(store_.check("k", raised, 15).allowed());
  EXPECT_FALSE(store_.check("k", raised).allowed());
}

TEST_P(ShardedTableOf, LoweringTheLimitKeepsWhatWasUsedUpToTheNewCapacity) {
  store_.take("k", quota_, 3);
  const Quota lowered = quota_of(5, seconds{10}, GetParam());
  EXPECT_EQ(store_.remaining("k", lowered), 2U);
  store_.take("k", quota_, 5);
  const Decision denied = store_.check("k", lowered);
  EXPECT_EQ(denied.remaining(), 0U);
  EXPECT_LE(*denied.retry_after(), 2 * lowered.period());
}

TEST_P(ShardedTableOf, AnotherPeriodKeepsWhatWasUsed) {
  store_.take("k", quota_, 4);
  const Quota slower = quota_of(10, seconds{60}, GetParam());
  EXPECT_EQ(store_.remaining("k", slower), 6U);
  EXPECT_TRUE(store_.check("k", slower).allowed());
  EXPECT_EQ(store_.remaining("k", slower), 5U);
}

TEST_P(ShardedTableOf, AnotherAlgorithmKeepsWhatWasUsed) {
  for (const Algorithm algorithm : kAlgorithms) {
    const std::string key(to_string(algorithm));
    store_.take(key, quota_, 4);
    const Quota other = quota_of(10, seconds{10}, algorithm);
    EXPECT_EQ(store_.remaining(key, other), 6U) << key;
    EXPECT_TRUE(store_.check(key, other, 5).allowed()) << key;
    EXPECT_EQ(store_.remaining(key, other), 1U) << key;
    EXPECT_EQ(store_.remaining(key, quota_), 1U) << key;
  }
}

TEST_P(ShardedTableOf, SwitchingBetweenTwoQuotasNeverGivesASecondHelping) {
  for (const Algorithm algorithm : kAlgorithms) {
    const std::string key(to_string(algorithm));
    const Quota other = quota_of(10, seconds{20}, algorithm);
    int admitted = 0;
    for (int i = 0; i < 40; ++i) {
      if (store_.check(key, i % 2 == 0 ? quota_ : other).allowed()) ++admitted;
    }
    EXPECT_EQ(admitted, 10) << key;
  }
}

TEST_P(ShardedTableOf, ADenialUnderAnotherQuotaReportsTheRightWait) {
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Duration period : {Duration{seconds{1}}, Duration{seconds{60}}}) {
      const std::string key = std::string(to_string(algorithm)) + std::to_string(period.count());
      store_.clock.advance(milliseconds{3210});
      store_.take(key, quota_, 9);
      const Quota other = quota_of(10, period, algorithm);
      const Decision denied = store_.check(key, other, 3);
      ASSERT_EQ(denied.outcome(), Outcome::Denied) << key;
      store_.clock.advance(*denied.retry_after() - Duration{1});
      EXPECT_FALSE(store_.check(key, other, 3).allowed()) << key;
      store_.clock.advance(Duration{1});
      EXPECT_TRUE(store_.check(key, other, 3).allowed()) << key;
    }
  }
}

TEST_P(ShardedTableOf, RefundUnderAnotherQuotaCountsInUnits) {
  store_.take("k", quota_, 6);
  const Quota raised = quota_of(20, seconds{10}, GetParam());
  EXPECT_EQ(store_.store.refund("k", raised, Cost{2}).remaining(), 16U);
  EXPECT_EQ(store_.remaining("k", quota_), 6U);
}

TEST(ShardedTable, IsExactForTheLargestQuotas) {
  ManualStore store;
  for (const Algorithm algorithm :
       {Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::AnchoredWindow,
        Algorithm::SlidingCounter, Algorithm::SubWindows}) {
    const std::string key(to_string(algorithm));
    QuotaSpec spec = per(Quota::kMaxLimit, Quota::kMaxPeriod).with(algorithm);
    const Quota quota = Quota::make(spec).value();
    EXPECT_TRUE(store.check(key, quota, 999'999'999).allowed()) << key;
    EXPECT_EQ(store.remaining(key, quota), 1U) << key;
    EXPECT_FALSE(store.check(key, quota, 2).allowed()) << key;
    EXPECT_TRUE(store.check(key, quota, 1).allowed()) << key;
    EXPECT_EQ(store.remaining(key, quota), 0U) << key;
  }
}

TEST(ShardedTable, KeysMayHoldAnyBytes) {
  using namespace std::string_view_literals;
  ManualStore store;
  const Quota quota = per_minute(1);
  EXPECT_TRUE(store.check("a"sv, quota).allowed());
  EXPECT_TRUE(store.check("a\0"sv, quota).allowed());
  EXPECT_TRUE(store.check("a\0b"sv, quota).allowed());
  EXPECT_FALSE(store.check("a\0b"sv, quota).allowed());
}

TEST(ShardedTable, DrawsASecretOfItsOwn) {
  ManualClock clock;
  ShardedTable store(MemoryOptions{.clock = &clock});
  const Quota quota = per_minute(1);
  EXPECT_TRUE(store.check("k", quota, Cost{}).allowed());
  EXPECT_FALSE(store.check("k", quota, Cost{}).allowed());
}

}  // namespace
}  // namespace penstock::store
