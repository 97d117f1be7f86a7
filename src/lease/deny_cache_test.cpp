#include "lease/deny_cache.hpp"

#include <gtest/gtest.h>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

class DenyCacheTest : public testing::Test {
 protected:
  static constexpr Quota kQuota = per_hour(1);

  void refuse(DenyCache& cache, std::uint64_t name, base::Deadline at) {
    cache.note(hash(name), kQuota, Cost{1}, Decision::deny(1, 0, 1h, 1h), at, at);
  }
  static bool refuses(const DenyCache& cache, std::uint64_t name, base::Deadline at) {
    return cache.refuses(hash(name), kQuota, Cost{1}, at).has_value();
  }
  static store::Hash128 hash(std::uint64_t name) { return {.high = name, .low = name * 7}; }

  const base::Deadline start_{std::chrono::seconds{100}};
};

TEST_F(DenyCacheTest, RemembersWhoWasRefused) {
  DenyCache cache;
  refuse(cache, 1, start_);
  EXPECT_TRUE(refuses(cache, 1, start_ + 1ms));
  EXPECT_FALSE(refuses(cache, 2, start_ + 1ms));
}

TEST_F(DenyCacheTest, ForgetsWhatWasChanged) {
  DenyCache cache;
  refuse(cache, 1, start_);
  refuse(cache, 2, start_);
  cache.forget(hash(1));
  EXPECT_FALSE(refuses(cache, 1, start_ + 1ms));
  EXPECT_TRUE(refuses(cache, 2, start_ + 1ms));
  cache.forget_all();
  EXPECT_FALSE(refuses(cache, 2, start_ + 1ms));
  EXPECT_EQ(cache.size(), 0U);
}

TEST_F(DenyCacheTest, NeedsNoMoreMemoryHoweverOftenAKeyIsForgotten) {
  DenyCache cache;
  for (int i = 0; i < 1000; ++i) {
    refuse(cache, 1, start_);
    cache.forget(hash(1));
  }
  EXPECT_EQ(cache.places(), 1U);
}

TEST_F(DenyCacheTest, NeverHoldsMoreThanItsSize) {
  DenyCache cache(10);
  for (std::uint64_t name = 0; name < 1000; ++name) {
    refuse(cache, name, start_);
    EXPECT_LE(cache.size(), 10U);
    EXPECT_TRUE(refuses(cache, name, start_)) << "the newest stays";
  }
}

TEST_F(DenyCacheTest, StaysWithinItsSizeWhateverIsForgottenMeanwhile) {
  DenyCache cache(10);
  for (std::uint64_t name = 0; name < 1000; ++name) {
    refuse(cache, name % 37, start_);
    if (name % 3 == 0) cache.forget(hash(name % 11));
    EXPECT_LE(cache.size(), 10U);
  }
}

TEST_F(DenyCacheTest, ShrinksAsRefusalsEnd) {
  DenyCache cache;
  for (std::uint64_t name = 0; name < 100; ++name) refuse(cache, name, start_);
  for (std::uint64_t name = 1000; name < 1100; ++name) refuse(cache, name, start_ + 2s);
  EXPECT_LE(cache.size(), 101U);
}

TEST_F(DenyCacheTest, ALaterAnswerReplacesTheOneBefore) {
  DenyCache cache;
  refuse(cache, 1, start_);
  cache.note(hash(1), kQuota, Cost{1}, Decision::allow(1, 1, 0s), start_, start_);
  EXPECT_FALSE(refuses(cache, 1, start_ + 1ms));
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(DenyCacheTest, ShowsWhatLimitsHadThatDidNotRefuse) {
  DenyCache cache;
  constexpr Quota kShown = per_hour(9).fixed_window();
  cache.note(hash(1), kShown, Cost{1}, Decision::allow(9, 5, 10s), start_, start_);
  const auto shown = cache.shows(hash(1), kShown, Cost{1}, start_ + 500ms);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->remaining(), 5U);
  EXPECT_NEAR(static_cast<double>(shown->reset_after().count()), 9.5e6, 1e3);
  EXPECT_FALSE(cache.shows(hash(2), kShown, Cost{1}, start_));
  EXPECT_FALSE(cache.shows(hash(1), kShown, Cost{1}, start_ + 2s));
}

TEST_F(DenyCacheTest, ShowsNoLimitThatHasNoRoomForTheCost) {
  DenyCache cache;
  constexpr Quota kShown = per_hour(9).fixed_window();
  cache.note(hash(1), kShown, Cost{1}, Decision::allow(9, 5, 10s), start_, start_);
  EXPECT_TRUE(cache.shows(hash(1), kShown, Cost{5}, start_));
  EXPECT_FALSE(cache.shows(hash(1), kShown, Cost{6}, start_));
}

TEST_F(DenyCacheTest, AnEntryOfAnotherVersionSaysNothing) {
  DenyCache cache;
  const Decision denied = Decision::deny(1, 0, 1h, 1h);
  cache.note(hash(1), kQuota, Cost{1}, denied, start_, start_, 7);
  EXPECT_TRUE(cache.refuses(hash(1), kQuota, Cost{1}, start_, 7));
  EXPECT_FALSE(cache.refuses(hash(1), kQuota, Cost{1}, start_, 8));
  cache.update(hash(1), {kQuota, Cost{1}, denied, start_, start_}, 8);
  EXPECT_TRUE(cache.refuses(hash(1), kQuota, Cost{1}, start_, 8));
}

TEST_F(DenyCacheTest, AnAdmissionIsRememberedOnlyOfAKnownKey) {
  DenyCache cache;
  cache.update(hash(1), {kQuota, Cost{1}, Decision::allow(1, 0, 1h), start_, start_}, 1);
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace penstock::lease
