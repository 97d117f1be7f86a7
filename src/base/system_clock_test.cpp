#include "base/monotonic_time.hpp"
#include "penstock/clock.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::microseconds;

TEST(SystemClock, TellsTheTimeOfDay) {
  // when this was written, and when microseconds since the epoch leave 2^53
  EXPECT_GT(system_clock().now(), Instant{Days{20'000}});
  EXPECT_LT(system_clock().now(), Instant{Days{104'000}});
}

TEST(SystemClock, IsOneForAll) { EXPECT_EQ(&system_clock(), &system_clock()); }

TEST(SystemClock, GoesOnWithTheMonotonicClock) {
  const auto outer_start = base::monotonic_now();
  const Instant start = system_clock().now();
  const auto inner_start = base::monotonic_now();
  while (base::monotonic_now() < inner_start + std::chrono::milliseconds{5}) {
  }
  const auto inner_end = base::monotonic_now();
  const Instant end = system_clock().now();
  const auto outer_end = base::monotonic_now();
  EXPECT_GE(end - start, inner_end - inner_start - microseconds{10});
  EXPECT_LE(end - start, outer_end - outer_start + microseconds{10});
}

TEST(ManualClock, StandsStillUntilSet) {
  ManualClock clock{Instant{Duration{5}}};
  EXPECT_EQ(clock.now(), Instant{Duration{5}});
  clock.advance(Duration{3});
  EXPECT_EQ(clock.now(), Instant{Duration{8}});
  clock.set(Instant{Duration{1}});
  EXPECT_EQ(clock.now(), Instant{Duration{1}});
}

}  // namespace
}  // namespace penstock
