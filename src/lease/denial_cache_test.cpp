#include "lease/denial_cache.hpp"

#include <gtest/gtest.h>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

class DenialCacheTest : public testing::Test {
 protected:
  static constexpr Quota kQuota = per_hour(1);

  void deny(DenialCache& cache, std::uint64_t name, base::Deadline at) {
    cache.note(hash(name), kQuota, Cost{1}, Decision::deny(1, 0, 1h, 1h), at, at);
  }
  static bool certain_denial(const DenialCache& cache, std::uint64_t name, base::Deadline at) {
    return cache.certain_denial(hash(name), kQuota, Cost{1}, at).has_value();
  }
  static store::Hash128 hash(std::uint64_t name) { return {.high = name, .low = name * 7}; }

  const base::Deadline start_{std::chrono::seconds{100}};
};

TEST_F(DenialCacheTest, CachesDenials) {
  DenialCache cache;
  deny(cache, 1, start_);
  EXPECT_TRUE(certain_denial(cache, 1, start_ + 1ms));
  EXPECT_FALSE(certain_denial(cache, 2, start_ + 1ms));
}

TEST_F(DenialCacheTest, ForgetsChangedKeys) {
  DenialCache cache;
  deny(cache, 1, start_);
  deny(cache, 2, start_);
  cache.forget(hash(1));
  EXPECT_FALSE(certain_denial(cache, 1, start_ + 1ms));
  EXPECT_TRUE(certain_denial(cache, 2, start_ + 1ms));
  cache.forget_all();
  EXPECT_FALSE(certain_denial(cache, 2, start_ + 1ms));
  EXPECT_EQ(cache.size(), 0U);
}

TEST_F(DenialCacheTest, NeedsNoMoreMemoryHoweverOftenAKeyIsForgotten) {
  DenialCache cache;
  for (int i = 0; i < 1000; ++i) {
    deny(cache, 1, start_);
    cache.forget(hash(1));
  }
  EXPECT_EQ(cache.queue_size(), 1U);
}

TEST_F(DenialCacheTest, NeverExceedsItsSize) {
  DenialCache cache(10);
  for (std::uint64_t name = 0; name < 1000; ++name) {
    deny(cache, name, start_);
    EXPECT_LE(cache.size(), 10U);
    EXPECT_TRUE(certain_denial(cache, name, start_)) << "the newest stays";
  }
}

TEST_F(DenialCacheTest, StaysWithinItsSizeWhenKeysAreForgotten) {
  DenialCache cache(10);
  for (std::uint64_t name = 0; name < 1000; ++name) {
    deny(cache, name % 37, start_);
    if (name % 3 == 0) cache.forget(hash(name % 11));
    EXPECT_LE(cache.size(), 10U);
  }
}

TEST_F(DenialCacheTest, ShrinksAsDenialsExpire) {
  DenialCache cache;
  for (std::uint64_t name = 0; name < 100; ++name) deny(cache, name, start_);
  for (std::uint64_t name = 1000; name < 1100; ++name) deny(cache, name, start_ + 2s);
  EXPECT_LE(cache.size(), 101U);
}

TEST_F(DenialCacheTest, ALaterAnswerReplacesTheEarlier) {
  DenialCache cache;
  deny(cache, 1, start_);
  cache.note(hash(1), kQuota, Cost{1}, Decision::allow(1, 1, 0s), start_, start_);
  EXPECT_FALSE(certain_denial(cache, 1, start_ + 1ms));
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(DenialCacheTest, ReportsLimitsThatDidNotDeny) {
  DenialCache cache;
  constexpr Quota kShown = per_hour(9).fixed_window();
  cache.note(hash(1), kShown, Cost{1}, Decision::allow(9, 5, 10s), start_, start_);
  const auto shown = cache.snapshot(hash(1), kShown, Cost{1}, start_ + 500ms);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->remaining(), 5U);
  EXPECT_NEAR(static_cast<double>(shown->reset_after().count()), 9.5e6, 1e3);
  EXPECT_FALSE(cache.snapshot(hash(2), kShown, Cost{1}, start_));
  EXPECT_FALSE(cache.snapshot(hash(1), kShown, Cost{1}, start_ + 2s));
}

TEST_F(DenialCacheTest, ReportsNoLimitWithoutRoomForTheCost) {
  DenialCache cache;
  constexpr Quota kShown = per_hour(9).fixed_window();
  cache.note(hash(1), kShown, Cost{1}, Decision::allow(9, 5, 10s), start_, start_);
  EXPECT_TRUE(cache.snapshot(hash(1), kShown, Cost{5}, start_));
  EXPECT_FALSE(cache.snapshot(hash(1), kShown, Cost{6}, start_));
}

TEST_F(DenialCacheTest, AnEntryOfAnotherVersionIsIgnored) {
  DenialCache cache;
  const Decision denied = Decision::deny(1, 0, 1h, 1h);
  cache.note(hash(1), kQuota, Cost{1}, denied, start_, start_, 7);
  EXPECT_TRUE(cache.certain_denial(hash(1), kQuota, Cost{1}, start_, 7));
  EXPECT_FALSE(cache.certain_denial(hash(1), kQuota, Cost{1}, start_, 8));
  cache.update(hash(1), {kQuota, Cost{1}, denied, start_, start_}, 8);
  EXPECT_TRUE(cache.certain_denial(hash(1), kQuota, Cost{1}, start_, 8));
}

TEST_F(DenialCacheTest, AnAdmissionIsKeptOnlyForAKnownKey) {
  DenialCache cache;
  cache.update(hash(1), {kQuota, Cost{1}, Decision::allow(1, 0, 1h), start_, start_}, 1);
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace penstock::lease
