#include "bench/request_schedule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::bench {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

RC_GTEST_PROP(RequestSchedule, IsEvenAndHasTheRateThatWasAskedFor, ()) {
  const auto rate = *rc::gen::inRange<std::uint64_t>(1, 5000);
  const auto length = seconds{*rc::gen::inRange(1, 4)};
  const RequestSchedule::TimePoint start{seconds{*rc::gen::inRange(0, 1000)}};
  RequestSchedule schedule(rate, start, start + length);
  auto last = start;
  while (const auto at = schedule.next()) {
    RC_ASSERT(*at >= last);
    const auto step = nanoseconds{1'000'000'000 / static_cast<std::int64_t>(rate)};
    if (schedule.scheduled() > 0) {
      RC_ASSERT(*at - last >= step);
      RC_ASSERT(*at - last <= step + nanoseconds{1});
    }
    last = *at;
    schedule.advance();
  }
  RC_ASSERT(last < start + length);
  RC_ASSERT(schedule.scheduled() == rate * static_cast<std::uint64_t>(length.count()));
}

TEST(RequestSchedule, HoldsItsRateOverTheLongestRun) {
  constexpr std::uint64_t kRate = 10'000'000;
  const RequestSchedule::TimePoint start{};
  RequestSchedule schedule(kRate, start, start + std::chrono::hours{1});
  for (std::uint64_t i = 0; i < 2 * kRate; ++i) schedule.advance();
  EXPECT_EQ(schedule.next(), start + seconds{2});
}

}  // namespace
}  // namespace penstock::bench
