#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Keys blocked by hand.
namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::ten_in_ten_seconds;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Quota kTenPerMinute = per_minute(10);

TEST(ShardedTableBlock, DeniesEverythingUntilItEnds) {
  for (const Algorithm algorithm : kAlgorithms) {
    ManualStore store;
    const Quota quota = ten_in_ten_seconds(algorithm);
    store.store.block("k", minutes{5});
    const Decision denied = store.check("k", quota);
    EXPECT_EQ(denied.outcome(), Outcome::Blocked);
    EXPECT_EQ(denied.limit(), 10U);
    EXPECT_EQ(denied.remaining(), 0U);
    EXPECT_EQ(denied.retry_after(), Duration{minutes{5}});
    EXPECT_EQ(store.peek("k", quota).outcome(), Outcome::Blocked);
    EXPECT_EQ(store.check("k", quota, 1'000'000).outcome(), Outcome::Blocked);
    store.clock.advance(minutes{5} - Duration{1});
    EXPECT_EQ(store.check("k", quota).retry_after(), Duration{1});
    store.clock.advance(Duration{1});
    EXPECT_TRUE(store.check("k", quota, 10).allowed());
  }
}

TEST(ShardedTableBlock, IsForgottenWithAllUsageWhenTheStoreIsCleared) {
  for (const Algorithm algorithm : kAlgorithms) {
    ManualStore store;
    const Quota quota = ten_in_ten_seconds(algorithm);
    for (int i = 0; i < 5000; ++i) {
      EXPECT_TRUE(store.check("k" + std::to_string(i), quota, 10).allowed());
    }
    store.store.block("k1", minutes{5});
    store.store.clear();
    EXPECT_EQ(store.store.stats().keys, 0U);
    EXPECT_EQ(store.store.stats().blocked, 0U);
    for (int i = 0; i < 5000; ++i) {
      EXPECT_TRUE(store.check("k" + std::to_string(i), quota, 10).allowed());
    }
  }
}

TEST(ShardedTableBlock, HoldsForItsKeyAlone) {
  ManualStore store;
  store.store.block("k", minutes{5});
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(store.check("k" + std::to_string(i), kTenPerMinute).allowed());
}

TEST(ShardedTableBlock, HoldsForTheNamedLimitsOfItsKey) {
  ManualStore store;
  const Limits limits = Limits::make({{"a", kTenPerMinute}, {"b", per_day(20)}}).value();
  store.store.block("k", minutes{5});
  const Decision denied = store.store.check("k", limits, Cost{});
  EXPECT_EQ(denied.outcome(), Outcome::Blocked);
  EXPECT_EQ(denied.retry_after(), Duration{minutes{5}});
  EXPECT_TRUE(store.store.check("other", limits, Cost{}).allowed());
  EXPECT_TRUE(store.store.unblock("k"));
  EXPECT_EQ(store.store.check("k", limits, Cost{10}).remaining(), 0U);
}

TEST(ShardedTableBlock, HoldsInBatches) {
  ManualStore store;
  store.store.block("b", minutes{5});
  const std::vector<Check> checks{{"a", kTenPerMinute}, {"b", kTenPerMinute}, {"c", kTenPerMinute}};
  std::vector<Decision> decisions(3);
  store.store.check_each(checks, decisions);
  EXPECT_TRUE(decisions[0].allowed());
  EXPECT_EQ(decisions[1].outcome(), Outcome::Blocked);
  EXPECT_TRUE(decisions[2].allowed());
}

TEST(ShardedTableBlock, KeepsWhatTheKeyHasUsed) {
  ManualStore store;
  const Quota daily = per_day(10).fixed_window();
  store.take("k", daily, 7);
  store.store.block("k", minutes{5});
  EXPECT_FALSE(store.check("k", daily).allowed());
  store.store.unblock("k");
  EXPECT_EQ(store.remaining("k", daily), 3U);
}

TEST(ShardedTableBlock, ARefundStillCounts) {
  ManualStore store;
  const Quota daily = per_day(10).fixed_window();
  store.take("k", daily, 7);
  store.store.block("k", minutes{5});
  EXPECT_EQ(store.store.refund("k", daily, Cost{2}).outcome(), Outcome::Blocked);
  store.store.unblock("k");
  EXPECT_EQ(store.remaining("k", daily), 5U);
}

TEST(ShardedTableBlock, StaysThroughAReset) {
  ManualStore store;
  store.take("k", kTenPerMinute);
  store.store.block("k", minutes{5});
  EXPECT_TRUE(store.store.reset("k"));
  EXPECT_EQ(store.check("k", kTenPerMinute).outcome(), Outcome::Blocked);
}

TEST(ShardedTableBlock, BlockingAgainReplacesTheTime) {
  ManualStore store;
  store.store.block("k", minutes{5});
  store.store.block("k", seconds{1});
  EXPECT_EQ(store.check("k", kTenPerMinute).retry_after(), Duration{seconds{1}});
  store.store.block("k", hours{1});
  EXPECT_EQ(store.check("k", kTenPerMinute).retry_after(), Duration{hours{1}});
  EXPECT_EQ(store.store.stats().blocked, 1U);
}

TEST(ShardedTableBlock, UnblockSaysWhetherTheKeyWasBlocked) {
  ManualStore store;
  EXPECT_FALSE(store.store.unblock("k"));
  store.store.block("k", minutes{5});
  EXPECT_TRUE(store.store.unblock("k"));
  EXPECT_FALSE(store.store.unblock("k"));
  store.store.block("k", minutes{5});
  store.clock.advance(minutes{5});
  EXPECT_FALSE(store.store.unblock("k")) << "it had ended";
}

TEST(ShardedTableBlock, ForNoTimeOrLessIsNoBlock) {
  ManualStore store;
  store.store.block("k", Duration{0});
  EXPECT_TRUE(store.check("k", kTenPerMinute).allowed());
  store.store.block("k", minutes{5});
  store.store.block("k", Duration{-1});
  EXPECT_TRUE(store.check("k", kTenPerMinute).allowed());
  store.store.block("k", Duration::min());
  EXPECT_TRUE(store.check("k", kTenPerMinute).allowed());
  EXPECT_EQ(store.store.stats().blocked, 0U);
}

TEST(ShardedTableBlock, ForLongerThanTimeLastsIsACentury) {
  ManualStore store;
  store.store.block("k", Duration::max());
  store.clock.advance(Days{36'000});
  EXPECT_EQ(store.check("k", kTenPerMinute).outcome(), Outcome::Blocked);
}

TEST(ShardedTableBlock, TimeStandsStillForItWhileTheClockIsBehind) {
  ManualStore store;
  store.store.block("k", minutes{5});
  store.clock.advance(-hours{1});
  EXPECT_EQ(store.check("k", kTenPerMinute).retry_after(), Duration{minutes{5}});
}

TEST(ShardedTableBlock, StatsCountBlocksThatHold) {
  ManualStore store;
  for (int i = 0; i < 100; ++i) store.store.block(std::to_string(i), minutes{i + 1});
  EXPECT_EQ(store.store.stats().blocked, 100U);
  // these keys are not checked any more
  store.clock.advance(minutes{50});
  EXPECT_EQ(store.store.stats().blocked, 50U);
  store.clock.advance(minutes{50});
  EXPECT_EQ(store.store.stats().blocked, 0U);
}

TEST(ShardedTableBlock, AFloodOfKeysLeavesBlocksAlone) {
  ManualStore store({.max_keys = 1000});
  for (int i = 0; i < 100; ++i) store.store.block("bad " + std::to_string(i), hours{1});
  for (int i = 0; i < 20'000; ++i) store.take("fresh " + std::to_string(i), kTenPerMinute);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(store.check("bad " + std::to_string(i), kTenPerMinute).outcome(), Outcome::Blocked);
  }
  EXPECT_EQ(store.store.stats().blocks_evicted, 0U);
}

TEST(ShardedTableBlock, ThereIsABoundAndTheSoonestToEndGoesFirst) {
  ManualStore store({.max_keys = 50});
  for (int i = 0; i < 500; ++i) store.store.block(std::to_string(i), seconds{1000 + i});
  const MemoryStats stats = store.store.stats();
  EXPECT_EQ(stats.blocked, 50U);
  EXPECT_EQ(stats.blocks_evicted, 450U);
  for (int i = 450; i < 500; ++i) {
    EXPECT_EQ(store.check(std::to_string(i), kTenPerMinute).outcome(), Outcome::Blocked) << i;
  }
}

TEST(ShardedTableBlock, BlocksThatHaveEndedMakeRoomUncounted) {
  ManualStore store({.max_keys = 50});
  for (int i = 0; i < 50; ++i) store.store.block(std::to_string(i), seconds{1});
  store.clock.advance(seconds{1});
  for (int i = 50; i < 100; ++i) store.store.block(std::to_string(i), hours{1});
  EXPECT_EQ(store.store.stats().blocked, 50U);
  EXPECT_EQ(store.store.stats().blocks_evicted, 0U);
}

}  // namespace
}  // namespace penstock::store
