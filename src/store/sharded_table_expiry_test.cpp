#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <string>

// Keys that say nothing any more, the memory they leave behind, and what the statistics tell.
namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::quota_of;
using reference::ten_in_ten_seconds;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::size_t kEverything = ~std::size_t{0};

class ShardedTableExpiry : public ::testing::TestWithParam<Algorithm> {
 protected:
  void take_from(int first, int last) {
    for (int i = first; i < last; ++i) store_.take("key " + std::to_string(i), quota_);
  }
  // Longer than any key of quota_ says anything.
  void let_all_expire() { store_.clock.advance(seconds{21}); }

  ManualStore store_;
  Quota quota_ = ten_in_ten_seconds(GetParam());
};

INSTANTIATE_TEST_SUITE_P(, ShardedTableExpiry, ::testing::ValuesIn(kAlgorithms),
                         reference::name_of);

TEST_P(ShardedTableExpiry, ASweepDropsWhatHasExpired) {
  take_from(0, 3000);
  let_all_expire();
  take_from(3000, 3010);
  const std::uint64_t expired_before = store_.store.stats().expired;
  const std::size_t dropped = store_.store.sweep(kEverything);
  EXPECT_EQ(store_.store.stats().keys, 10U);
  EXPECT_EQ(store_.store.stats().expired, expired_before + dropped);
  EXPECT_EQ(store_.store.stats().expired, 3000U);
  EXPECT_EQ(store_.store.stats().evicted, 0U);
}

TEST_P(ShardedTableExpiry, ASweepLeavesWhatStillCounts) {
  take_from(0, 1000);
  EXPECT_EQ(store_.store.sweep(kEverything), 0U);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(store_.remaining("key " + std::to_string(i), quota_), 9U);
}

TEST_P(ShardedTableExpiry, ASweepDropsAKeyAtResetAfterAndNoSooner) {
  store_.clock.advance(std::chrono::milliseconds{1234});
  store_.take("k", quota_, 7);
  store_.clock.advance(store_.peek("k", quota_).reset_after() - Duration{1});
  EXPECT_EQ(store_.store.sweep(kEverything), 0U);
  store_.clock.advance(Duration{1});
  EXPECT_EQ(store_.store.sweep(kEverything), 1U);
}

TEST_P(ShardedTableExpiry, SmallSweepsGetAroundAndDropNoMoreThanTheyVisit) {
  take_from(0, 500);
  let_all_expire();
  EXPECT_EQ(store_.store.sweep(0), 0U);
  std::size_t dropped = 0;
  for (int i = 0; i < 2000 && dropped < 500; ++i) {
    const std::size_t now_dropped = store_.store.sweep(10);
    EXPECT_LE(now_dropped, 10U);
    dropped += now_dropped;
  }
  EXPECT_EQ(dropped, 500U);
}

TEST_P(ShardedTableExpiry, NewKeysTakeThePlaceOfExpiredOnes) {
  take_from(0, 2000);
  for (int generation = 1; generation < 6; ++generation) {
    let_all_expire();
    take_from(generation * 2000, (generation + 1) * 2000);
    EXPECT_LT(store_.store.stats().keys, 2500U) << "generation " << generation;
  }
}

TEST_P(ShardedTableExpiry, AnExpiredKeyIsAsGoodAsNewWhenAskedAbout) {
  store_.take("k", quota_, 10);
  let_all_expire();
  EXPECT_EQ(store_.peek("k", quota_), store_.peek("never checked", quota_));
  EXPECT_TRUE(store_.check("k", quota_, 10).allowed());
  EXPECT_EQ(store_.store.stats().keys, 1U);
}

TEST_P(ShardedTableExpiry, IdleSweepsAloneGiveMemoryBack) {
  take_from(0, 20'000);
  const std::uint64_t when_full = store_.store.stats().bytes;
  let_all_expire();
  for (int i = 0; i < 20; ++i) store_.store.sweep(kEverything);
  EXPECT_EQ(store_.store.stats().keys, 0U);
  EXPECT_LT(store_.store.stats().bytes, when_full / 5);
}

TEST_P(ShardedTableExpiry, NewKeysAloneGiveMemoryBack) {
  take_from(0, 20'000);
  const std::uint64_t when_full = store_.store.stats().bytes;
  for (int generation = 0; generation < 40; ++generation) {
    let_all_expire();
    take_from(20'000 + generation * 1000, 21'000 + generation * 1000);
  }
  EXPECT_LT(store_.store.stats().keys, 3000U);
  EXPECT_LT(store_.store.stats().bytes, when_full / 3);
}

TEST_P(ShardedTableExpiry, WhatASweepHasSeenEndIsOverEvenIfTheClockStepsBack) {
  store_.take("k", quota_, 10);
  let_all_expire();
  const Instant later = store_.clock.now();
  store_.store.sweep(kEverything);
  store_.clock.advance(-seconds{21});
  // time stands still at the sweep: what is taken now is taken then
  EXPECT_TRUE(store_.check("k", quota_, 10).allowed());
  store_.clock.set(later);
  EXPECT_FALSE(store_.check("k", quota_).allowed());
}

// docs/reference/limitations.md: time after 3886 counts as 3886, and time before 1970 as 1970.
TEST_P(ShardedTableExpiry, TimeStandsStillBeyondItsRange) {
  constexpr Instant kLast{Days{700'000}};
  ManualStore store;
  const Quota quota = reference::quota_of(3, std::chrono::seconds{10}, GetParam());
  const auto drain_at = [&](Instant now) {
    store.clock.set(now);
    const std::string key = "k" + std::to_string(now.time_since_epoch().count());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(store.check(key, quota).allowed());
    const Decision denied = store.check(key, quota);
    EXPECT_FALSE(denied.allowed());
    EXPECT_LE(denied.retry_after(), std::chrono::seconds{20});
    return key;
  };
  EXPECT_FALSE(store.check(drain_at(Instant::min()), quota).allowed());
  EXPECT_FALSE(store.check(drain_at(Instant{Duration{-1}}), quota).allowed());
  const std::string key = drain_at(kLast);
  for (const Instant later : {kLast + Days{1}, Instant::max()}) {
    store.clock.set(later);
    EXPECT_FALSE(store.check(key, quota).allowed()) << "nothing comes back any more";
    drain_at(later);
  }
}

TEST(ShardedTableStats, AreZeroAtFirstButForTheEmptyTables) {
  ManualStore store;
  const MemoryStats stats = store.store.stats();
  EXPECT_EQ(stats.keys, 0U);
  EXPECT_EQ(stats.blocked, 0U);
  EXPECT_EQ(stats.expired, 0U);
  EXPECT_EQ(stats.evicted, 0U);
  EXPECT_EQ(stats.evicted_usage, 0U);
  EXPECT_EQ(stats.blocks_evicted, 0U);
  EXPECT_EQ(stats.table_resizes, 0U);
  EXPECT_GT(stats.bytes, 0U);
  EXPECT_LT(stats.bytes, 200'000U);
}

TEST(ShardedTableStats, CountKeysAndGrowths) {
  ManualStore store;
  for (int i = 0; i < 5000; ++i) store.take(std::to_string(i), per_minute(10));
  EXPECT_EQ(store.store.stats().keys, 5000U);
  EXPECT_GT(store.store.stats().table_resizes, 64U);
}

TEST(ShardedTableStats, TellAtMost48BytesPerKeyWhenNothingIsBeingResized) {
  ManualStore store;
  for (const int keys : {20'000, 50'000, 100'000}) {
    for (int i = 0; i < keys; ++i) store.take(std::to_string(i), per_day(10));
    // resizes in progress go on with every check
    for (int i = 0; i < keys; ++i) static_cast<void>(store.peek(std::to_string(i), per_day(10)));
    const MemoryStats stats = store.store.stats();
    ASSERT_EQ(stats.keys, static_cast<std::uint64_t>(keys));
    const double bytes_per_key = static_cast<double>(stats.bytes) / keys;
    EXPECT_GE(bytes_per_key, 32) << keys;
    // the shards themselves are spread over few keys at first
    const double of_shards = 64.0 * 1024 / keys;
    EXPECT_LE(bytes_per_key, 48 + of_shards) << keys;
  }
}

TEST(ShardedTableStats, UnusedQuotasTakeNoMemory) {
  ManualStore store;
  for (int i = 1; i < 3000; ++i) store.take("k", quota_of(i, hours{1}, Algorithm::FixedWindow));
  EXPECT_EQ(store.store.stats().keys, 1U);
  EXPECT_LT(store.store.stats().bytes, 200'000U);
}

}  // namespace
}  // namespace penstock::store
