#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <string>

// What is forgotten when the store is full.
namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::quota_of;
using std::chrono::hours;

// As many keys as eviction looks at: the choice is then among all of them.
constexpr std::uint64_t kAllSampled = 8;

std::string fresh(int number) { return "fresh " + std::to_string(number); }

class ShardedTableEviction : public ::testing::TestWithParam<Algorithm> {
 protected:
  Quota quota_ = quota_of(10, hours{24}, GetParam());
};

INSTANTIATE_TEST_SUITE_P(, ShardedTableEviction, ::testing::ValuesIn(kAlgorithms),
                         reference::name_of);

TEST_P(ShardedTableEviction, NeverRemembersMoreKeysThanAllowed) {
  for (const std::uint64_t most : {1U, 8U, 100U, 128U, 1000U, 5000U}) {
    ManualStore store({.max_keys = most});
    for (int i = 0; i < 6000; ++i) {
      ASSERT_TRUE(store.check(fresh(i), quota_).allowed());
      if (i % 50 != 0) continue;
      ASSERT_LE(store.store.stats().keys, most);
    }
    EXPECT_EQ(store.store.stats().keys, most);
    EXPECT_EQ(store.store.stats().evicted, 6000 - most);
  }
}

TEST_P(ShardedTableEviction, ForgetsTheKeyWithMostOfItsQuotaLeft) {
  ManualStore store({.max_keys = kAllSampled});
  const auto name = [](std::uint64_t used) { return "used " + std::to_string(used); };
  for (std::uint64_t used = 1; used <= kAllSampled; ++used) store.take(name(used), quota_, used);
  store.take("another", quota_, 9);
  EXPECT_EQ(store.remaining(name(1), quota_), 10U) << "forgotten";
  for (std::uint64_t used = 2; used <= kAllSampled; ++used) {
    EXPECT_EQ(store.remaining(name(used), quota_), 10 - used);
  }
  EXPECT_EQ(store.remaining("another", quota_), 1U);
}

TEST_P(ShardedTableEviction, CountsWhatTheForgottenHadUsed) {
  ManualStore store({.max_keys = kAllSampled});
  for (int i = 0; i < 20; ++i) store.take(fresh(i), quota_, 3);
  const MemoryStats stats = store.store.stats();
  EXPECT_EQ(stats.evicted, 12U);
  EXPECT_EQ(stats.evicted_usage, 36U);
  EXPECT_EQ(stats.expired, 0U);
}

TEST_P(ShardedTableEviction, WhatWasRefundedInFullIsEvictedFirstAndCountsNoUsage) {
  ManualStore store({.max_keys = kAllSampled});
  for (int i = 0; i < 8; ++i) store.take(fresh(i), quota_, 1);
  store.store.refund(fresh(3), quota_, Cost{1});
  store.take("another", quota_);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(store.remaining(fresh(i), quota_), i == 3 ? 10U : 9U);
  }
  EXPECT_EQ(store.store.stats().evicted, 0U);
  EXPECT_EQ(store.store.stats().evicted_usage, 0U);
  EXPECT_EQ(store.store.stats().expired, 1U);
}

TEST_P(ShardedTableEviction, AFloodOfFreshKeysDoesNotFreeTheDrained) {
  ManualStore store({.max_keys = 1000});
  for (int i = 0; i < 100; ++i) store.take("drained " + std::to_string(i), quota_, 10);
  for (int i = 0; i < 30'000; ++i) store.take(fresh(i), quota_);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(store.check("drained " + std::to_string(i), quota_).allowed()) << i;
  }
}

TEST_P(ShardedTableEviction, APeekOrADenialEvictsNoKey) {
  ManualStore store({.max_keys = kAllSampled});
  for (int i = 0; i < 8; ++i) store.take(fresh(i), quota_, 2);
  for (int i = 100; i < 200; ++i) {
    static_cast<void>(store.peek(fresh(i), quota_));
    static_cast<void>(store.check(fresh(i), quota_, 11));
  }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(store.remaining(fresh(i), quota_), 8U);
}

TEST(ShardedTableEvictionAcrossQuotas, ComparesUsedPercentagesNotAmounts) {
  ManualStore store({.max_keys = kAllSampled});
  const Quota small = per_day(10);
  const Quota large = per_day(1000);
  for (int i = 0; i < 7; ++i) store.take(fresh(i), small, 5);
  store.take("large", large, 100);
  store.take("another", small);
  EXPECT_EQ(store.remaining("large", large), 1000U) << "a tenth of its quota is less than a half";
  EXPECT_EQ(store.store.stats().evicted_usage, 100U);
}

TEST(ShardedTableEvictionAcrossQuotas, SharesOfTheLargestQuotasAreCompared) {
  ManualStore store({.max_keys = kAllSampled});
  const Quota largest = quota_of(Quota::kMaxLimit, hours{24}, Algorithm::FixedWindow);
  for (int i = 0; i < 7; ++i) store.take(fresh(i), largest, 1'000'000'000);
  store.take("almost", largest, 999'999'999);
  store.take("another", largest, 1'000'000'000);
  EXPECT_EQ(store.remaining("almost", largest), 1'000'000'000U);
  EXPECT_EQ(store.store.stats().evicted_usage, 999'999'999U);
}

TEST(ShardedTableEvictionAcrossQuotas, ExpiredKeysGoBeforeLiveOnes) {
  ManualStore store({.max_keys = kAllSampled});
  const Quota brief = quota_of(10, std::chrono::seconds{1}, Algorithm::FixedWindow);
  const Quota daily = quota_of(10, hours{24}, Algorithm::FixedWindow);
  for (int i = 0; i < 4; ++i) store.take("brief " + std::to_string(i), brief, 10);
  for (int i = 0; i < 4; ++i) store.take("daily " + std::to_string(i), daily, 1);
  store.clock.advance(std::chrono::seconds{1});
  for (int i = 0; i < 4; ++i) store.take(fresh(i), daily, 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(store.remaining("daily " + std::to_string(i), daily), 9U);
  EXPECT_EQ(store.store.stats().evicted, 0U);
  EXPECT_EQ(store.store.stats().expired, 4U);
}

TEST(ShardedTableEvictionAcrossQuotas, NamedLimitsCountAsKeysOfTheirOwn) {
  ManualStore store({.max_keys = 100});
  const Limits limits =
      Limits::make({{"a", per_day(10)}, {"b", per_day(20)}, {"c", per_day(30)}}).value();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(store.store.check(fresh(i), limits, Cost{}).allowed());
    ASSERT_LE(store.store.stats().keys, 100U);
  }
}

// Logs of one shard, each a few hundred bytes.
TEST(ShardedTableLogs, StayWithinTheirBound) {
  for (const Algorithm algorithm : {Algorithm::SlidingLog, Algorithm::SubWindows}) {
    constexpr std::uint64_t kMaxBytes = 10'000;
    ManualStore store({.max_keys = ManualStore::kOneShard, .max_log_bytes = kMaxBytes});
    ManualStore unbounded({.max_keys = ManualStore::kOneShard});
    const Quota quota = quota_of(1000, hours{1}, algorithm);
    std::uint64_t most = 0;
    for (int take = 0; take < 32; ++take) {
      for (int i = 0; i < 100; ++i) {
        store.clock.advance(Duration{1});
        unbounded.clock.advance(Duration{1});
        store.take(fresh(i), quota);
        unbounded.take(fresh(i), quota);
        most = std::max(most, store.store.stats().bytes);
      }
    }
    // 127 slots and what belongs to the shard itself take less than this
    constexpr std::uint64_t kTable = 12'000;
    EXPECT_LT(most, kMaxBytes + kTable) << to_string(algorithm);
    EXPECT_GT(store.store.stats().evicted, 0U);
    if (algorithm == Algorithm::SlidingLog) {
      EXPECT_GT(unbounded.store.stats().bytes, 50'000U);
    }
  }
}

TEST(ShardedTableLogs, TheFullestGoesFirstWhenTheyTakeTooMuch) {
  constexpr std::size_t kLogOfOne =
      sizeof(core::SlidingLog::State) + sizeof(core::SlidingLog::Entry);
  ManualStore store({.max_keys = ManualStore::kOneShard, .max_log_bytes = 8 * kLogOfOne});
  const Quota quota = quota_of(10, hours{1}, Algorithm::SlidingLog);
  for (std::uint64_t used = 1; used <= 8; ++used)
    store.take(fresh(static_cast<int>(used)), quota, used);
  ASSERT_EQ(store.store.stats().evicted, 0U);
  store.take("another", quota, 9);
  EXPECT_EQ(store.store.stats().evicted, 1U);
  EXPECT_EQ(store.store.stats().evicted_usage, 1U);
  EXPECT_EQ(store.remaining(fresh(1), quota), 10U);
  EXPECT_EQ(store.remaining("another", quota), 1U);
}

TEST(ShardedTableLogs, AreBoundedAloneWhileOtherKeysStay) {
  ManualStore store({.max_keys = ManualStore::kOneShard, .max_log_bytes = 1000});
  const Quota bucket = per_day(10);
  const Quota log = quota_of(10, hours{1}, Algorithm::SlidingLog);
  for (int i = 0; i < 50; ++i) store.take("bucket " + std::to_string(i), bucket);
  for (int i = 0; i < 70; ++i) store.take(fresh(i), log, 5);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(store.remaining("bucket " + std::to_string(i), bucket), 9U);
  EXPECT_LT(store.store.stats().keys, 70U);
}

TEST(ShardedTableLogs, ALogThatAloneIsTooLongIsKept) {
  ManualStore store({.max_keys = ManualStore::kOneShard, .max_log_bytes = 0});
  const Quota quota = quota_of(100, hours{1}, Algorithm::SlidingLog);
  for (int i = 0; i < 100; ++i) {
    store.clock.advance(Duration{1});
    ASSERT_TRUE(store.check("k", quota).allowed());
  }
  EXPECT_FALSE(store.check("k", quota).allowed()) << "its own limit holds";
}

// Those that go make others move: whose log grew must still be known by then.
TEST(ShardedTableLogs, TheKeyWhoseLogJustGrewIsKept) {
  const Quota log = quota_of(10, hours{1}, Algorithm::SlidingLog);
  const Quota bucket = per_day(1000);
  const Quota parts = Quota::make(per_day(1000).sub_windows(100)).value();
  for (int round = 0; round < 200; ++round) {
    ManualStore store({.max_keys = ManualStore::kOneShard, .max_log_bytes = 2000});
    for (int i = 0; i < 60; ++i) store.take(fresh(100 * round + i), log, 9);
    const std::uint64_t evicted = store.store.stats().evicted;
    const std::string mine = "mine " + std::to_string(round);
    store.take(mine, bucket);
    store.take(mine,
               parts);  // has used the least of its quota, and takes 400 bytes at once
    EXPECT_GE(store.store.stats().evicted, evicted + 3);
    ASSERT_EQ(store.remaining(mine, parts), 998U) << round;
  }
}

// A few logs among many buckets: a random slot is hardly ever a log.
TEST(ShardedTableLogs, StayWithinTheirBoundAmongManyOtherKeys) {
  constexpr std::uint64_t kMaxBytes = 50'000;
  ManualStore store({.max_log_bytes = kMaxBytes});
  const Quota bucket = per_day(10);
  for (int i = 0; i < 60'000; ++i) store.take("bucket " + std::to_string(i), bucket);
  const Quota parts = Quota::make(per_day(10).sub_windows(100)).value();
  const std::uint64_t keys_before = store.store.stats().keys;
  for (int i = 0; i < 3000; ++i) store.take(fresh(i), parts);
  // 100 + 1 counters each; beyond the bound, each of the shards may keep its newest
  constexpr std::uint64_t kEach = 404;
  EXPECT_LE(store.store.stats().keys - keys_before, kMaxBytes / kEach + 64);
}

TEST(ShardedTableLogs, GiveTheirBytesBackWhenTheyGo) {
  ManualStore store;
  const std::uint64_t before = store.store.stats().bytes;
  const Quota log = quota_of(10'000, hours{1}, Algorithm::SlidingLog);
  for (int i = 0; i < 1000; ++i) {
    store.clock.advance(Duration{1});
    store.take("k", log);
  }
  EXPECT_GT(store.store.stats().bytes, before + 16'000);
  store.store.reset("k");
  EXPECT_LT(store.store.stats().bytes, before + 1000);
  for (int i = 0; i < 1000; ++i) {
    store.clock.advance(Duration{1});
    store.take("k", log);
  }
  store.take("k", per_day(1001));
  EXPECT_LT(store.store.stats().bytes, before + 1000) << "a bucket has no log";
}

}  // namespace
}  // namespace penstock::store
