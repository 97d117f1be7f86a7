#include "lease/lease_size.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

constexpr auto kForever = base::Deadline::duration::max();

class LeaseSizeTest : public testing::Test {
 protected:
  // Admits `units` evenly in each of `times` half lifetimes.
  std::uint64_t after(std::uint64_t units, int times) {
    for (int i = 0; i < times; ++i) {
      for (int part = 0; part < 10; ++part) {
        size_.note_admitted(units / 10, now_);
        now_ += 5ms;
      }
    }
    return size_.want(now_, kForever);
  }

  base::Deadline now_{std::chrono::seconds{100}};
  LeaseSize size_{100ms, now_};
};

TEST_F(LeaseSizeTest, WantsTheUnitsAdmittedInHalfALifetime) {
  EXPECT_NEAR(static_cast<double>(after(500, 10)), 500, 5);
}

TEST_F(LeaseSizeTest, FollowsTheDemand) {
  static_cast<void>(after(500, 10));
  EXPECT_NEAR(static_cast<double>(after(5'000, 8)), 5'000, 50);
  EXPECT_NEAR(static_cast<double>(after(10, 16)), 10, 2);
}

TEST_F(LeaseSizeTest, DoesNotMistakeTheFirstRequestsForARate) {
  size_.note_admitted(3, now_);
  EXPECT_LE(size_.want(now_ + 1us, kForever), 3U);
}

TEST_F(LeaseSizeTest, TheRateDecaysWithTimeNotWithCalls) {
  static_cast<void>(after(500, 10));
  now_ += 100ms;
  size_.note_admitted(1, now_);
  EXPECT_LE(size_.want(now_, kForever), 250U) << "half, after one lifetime without a request";
  now_ += 10s;
  size_.note_admitted(1, now_);
  EXPECT_EQ(size_.want(now_, kForever), 0U);
}

TEST_F(LeaseSizeTest, WantsNoMoreThanCanBeSpentWhileUnitsCount) {
  static_cast<void>(after(500, 10));
  EXPECT_NEAR(static_cast<double>(size_.want(now_, 10ms)), 100, 2);
}

TEST_F(LeaseSizeTest, RequestsMoreBeforeItRunsOut) {
  size_.note_answer(5ms);
  static_cast<void>(after(500, 10));
  // 10 per ms, and answers take up to 5 ms: twice that is requested ahead
  EXPECT_NEAR(static_cast<double>(size_.low_water(now_)), 100, 2);
  EXPECT_EQ(size_.ahead(), 10ms);
}

TEST_F(LeaseSizeTest, ASlowAnswerTakesEffectAtOnceAndAQuickOneGradually) {
  size_.note_answer(80ms);
  EXPECT_EQ(size_.ahead(), 160ms);
  size_.note_answer(0ms);
  EXPECT_EQ(size_.ahead(), 140ms);
}

TEST_F(LeaseSizeTest, IsColdWhenFewAreAdmittedInALifetime) {
  EXPECT_FALSE(size_.is_cold(now_)) << "not known yet";
  size_.note_admitted(3, now_);
  EXPECT_TRUE(size_.is_cold(now_ + 100ms));
  size_.note_admitted(3, now_);
  EXPECT_FALSE(size_.is_cold(now_ + 100ms));
}

TEST_F(LeaseSizeTest, HugeDemandDoesNotOverflow) {
  size_.note_admitted(std::numeric_limits<std::uint64_t>::max() / 2, now_);
  const std::uint64_t want = size_.want(now_ + 1us, kForever);
  EXPECT_GT(want, 0U);
  EXPECT_LE(want, 1'000'000'000U);
}

}  // namespace
}  // namespace penstock::lease
