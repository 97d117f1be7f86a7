#include "service/abort_window.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace penstock::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A roll-out that is updated once a second.
struct AbortWindowTest : ::testing::Test {
  // Requests of one second. Whether the roll-out is aborted then.
  bool pass_second(std::uint64_t passed, std::uint64_t denied) {
    now += seconds{1};
    totals = totals + RolloutTotals{.enforced = passed + denied, .denied = denied};
    return window.update(totals, now);
  }

  base::Deadline now{};
  RolloutTotals totals{};
  AbortWindow window{{.denied_above = 500, .over = minutes{1}, .min_requests = 100}, now};
};

TEST_F(AbortWindowTest, AbortsAboveTheBoundAndNotAtIt) {
  EXPECT_FALSE(pass_second(190, 10));  // 5%
  EXPECT_TRUE(pass_second(0, 1));      // 11 of 201
  EXPECT_EQ(window.recent().enforced, 201U);
  EXPECT_EQ(window.recent().denied, 11U);
  EXPECT_EQ(denied_share(window.recent()), 547U);
}

TEST_F(AbortWindowTest, TooFewRequestsSayNothing) {
  EXPECT_FALSE(pass_second(0, 99));
  EXPECT_TRUE(pass_second(0, 1));
}

TEST_F(AbortWindowTest, RequestsOlderThanTheWindowDoNotCount) {
  EXPECT_FALSE(pass_second(0, 99));
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(pass_second(0, 0));
  EXPECT_FALSE(pass_second(0, 99));
  EXPECT_LE(window.recent().enforced, 99U);
}

TEST_F(AbortWindowTest, EarlierSuccessIsForgottenToo) {
  for (int i = 0; i < 3'600; ++i) EXPECT_FALSE(pass_second(100, 0));
  bool aborted = false;
  int after = 0;
  while (!aborted && ++after < 60) aborted = pass_second(90, 10);
  EXPECT_TRUE(aborted);
  EXPECT_LE(after, 31);  // half of the window denies 10%
}

TEST_F(AbortWindowTest, ALongPauseOfTheCallerKeepsOneSample) {
  EXPECT_FALSE(pass_second(50, 0));
  now += minutes{10};
  EXPECT_FALSE(window.update(totals, now));
  EXPECT_EQ(window.recent().enforced, 0U);
}

// Against a list of all requests: what it calls recent is at most one step shorter than the window,
// and never longer.
TEST(AbortWindow, KeepsTheWindowOverRandomHistories) {
  std::mt19937 random(17);  // NOLINT(cert-msc32-c,cert-msc51-cpp): repeatable
  struct Second {
    base::Deadline at;
    RolloutTotals totals;
  };
  for (int run = 0; run < 50; ++run) {
    const seconds over{10 + static_cast<int>(random() % 100)};
    base::Deadline now{};
    AbortWindow window({.denied_above = 1'000, .over = over, .min_requests = 20}, now);
    std::vector<Second> history{{.at = now, .totals = {}}};
    for (int i = 0; i < 500; ++i) {
      now += milliseconds{900 + random() % 200};
      const std::uint64_t denied = random() % 4;
      const RolloutTotals more{.enforced = denied + random() % 30, .denied = denied};
      history.push_back({.at = now, .totals = history.back().totals + more});
      const bool aborted = window.update(history.back().totals, now);
      const RolloutTotals recent = window.recent();
      const auto since = [&](base::Deadline from) {
        for (const Second& each : history) {
          if (each.at >= from) return history.back().totals - each.totals;
        }
        return RolloutTotals{};
      };
      EXPECT_LE(recent.enforced, since(now - over).enforced);
      EXPECT_GE(recent.enforced, since(now - over + over / 10 + milliseconds{1'200}).enforced);
      EXPECT_EQ(aborted, recent.enforced >= 20 && recent.denied * 10 > recent.enforced);
    }
  }
}

TEST(DeniedShare, IsRoundedDownAndDoesNotOverflow) {
  EXPECT_EQ(denied_share({}), 0U);
  EXPECT_EQ(denied_share({.enforced = 3, .denied = 1}), 3'333U);
  EXPECT_EQ(denied_share({.enforced = 1, .denied = 1}), rules::kWhole);
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63U;
  EXPECT_EQ(denied_share({.enforced = kHuge, .denied = kHuge / 2}), 5'000U);
}

}  // namespace
}  // namespace penstock::service
