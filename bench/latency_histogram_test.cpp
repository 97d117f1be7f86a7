#include "bench/latency_histogram.hpp"

#include "bench/measure.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace penstock::bench {
namespace {

using std::chrono::nanoseconds;

// From nothing to half a year, small ones often.
nanoseconds any_time() {
  const auto bits = *rc::gen::inRange(0, 54);
  return nanoseconds{*rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << bits) + 1)};
}

RC_GTEST_PROP(LatencyHistogram, IsNeverBelowTheTruePercentileAndHardlyAboveIt, ()) {
  LatencyHistogram histogram;
  std::vector<nanoseconds> times;
  const int count = *rc::gen::inRange(1, 200);
  for (int i = 0; i < count; ++i) {
    times.push_back(any_time());
    histogram.add(times.back());
  }
  RC_ASSERT(histogram.count() == times.size());
  for (const double share : {0.0, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const nanoseconds exact = percentile(times, share);
    RC_ASSERT(histogram.percentile(share) >= exact);
    RC_ASSERT(histogram.percentile(share) <= exact + exact / 256);
  }
}

TEST(LatencyHistogram, KnowsTheLongestExactly) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(1), nanoseconds{0});
  histogram.add(nanoseconds{-5});
  EXPECT_EQ(histogram.percentile(1), nanoseconds{0});
  histogram.add(nanoseconds::max());
  EXPECT_EQ(histogram.percentile(1), nanoseconds::max());
  EXPECT_EQ(histogram.count(), 2U);
}

}  // namespace
}  // namespace penstock::bench
