#include "lease/lease_size.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

constexpr auto kForever = base::Deadline::duration::max();

class LeaseSizeTest : public testing::Test {
 protected:
  // So many are asked for evenly in each of `times` half lifetimes.
  std::uint64_t after(std::uint64_t units, int times) {
    std::uint64_t want = 0;
    for (int i = 0; i < times; ++i) {
      size_.note_demand(units);
      now_ += 50ms;
      want = size_.next(now_, kForever);
    }
    return want;
  }

  base::Deadline now_{std::chrono::seconds{100}};
  LeaseSize size_{100ms, now_};
};

TEST_F(LeaseSizeTest, WantsWhatIsAskedForInHalfALifetime) { EXPECT_EQ(after(500, 10), 500U); }

TEST_F(LeaseSizeTest, FollowsTheDemand) {
  static_cast<void>(after(500, 10));
  EXPECT_NEAR(static_cast<double>(after(5'000, 8)), 5'000, 50);
  EXPECT_NEAR(static_cast<double>(after(10, 16)), 10, 2);
}

TEST_F(LeaseSizeTest, DoesNotTakeTheFirstRequestsForARate) {
  size_.note_demand(3);
  EXPECT_LE(size_.next(now_ + 1us, kForever), 3U);
}

TEST_F(LeaseSizeTest, WantsNoMoreThanCanBeSpentWhileItCounts) {
  static_cast<void>(after(500, 10));
  size_.note_demand(500);
  EXPECT_EQ(size_.next(now_ + 50ms, 10ms), 100U);
}

TEST_F(LeaseSizeTest, AsksForMoreBeforeItRunsOut) {
  size_.note_answer(5ms);
  static_cast<void>(after(500, 10));
  // 10 per ms, and answers take up to 5 ms: twice that is ahead
  EXPECT_EQ(size_.low_water(), 100U);
  EXPECT_EQ(size_.ahead(), 10ms);
}

TEST_F(LeaseSizeTest, ASlowAnswerCountsAtOnceAndAQuickOneLittleByLittle) {
  size_.note_answer(80ms);
  EXPECT_EQ(size_.ahead(), 160ms);
  size_.note_answer(0ms);
  EXPECT_EQ(size_.ahead(), 140ms);
}

TEST_F(LeaseSizeTest, IsColdWhenFewAskInALifetime) {
  EXPECT_FALSE(size_.is_cold(now_)) << "nobody knows yet";
  size_.note_demand(3);
  EXPECT_TRUE(size_.is_cold(now_ + 100ms));
  size_.note_demand(3);
  EXPECT_FALSE(size_.is_cold(now_ + 100ms));
}

TEST_F(LeaseSizeTest, HugeDemandDoesNotOverflow) {
  size_.note_demand(std::numeric_limits<std::uint64_t>::max() / 2);
  const std::uint64_t want = size_.next(now_ + 1us, kForever);
  EXPECT_GT(want, 0U);
  EXPECT_LE(want, 1'000'000'000U);
}

}  // namespace
}  // namespace penstock::lease
