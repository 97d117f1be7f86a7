#include "apps/penstock/demo/demo_scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

namespace penstock::app {
namespace {

using namespace std::chrono_literals;

std::map<Algorithm, DemoRow> run_by_algorithm(const QuotaSpec& spec) {
  const Result<std::vector<DemoRow>> rows = run_demo(spec);
  std::map<Algorithm, DemoRow> by_algorithm;
  for (const DemoRow& row : rows.value()) by_algorithm.emplace(row.quota.algorithm(), row);
  return by_algorithm;
}

std::vector<Outcome> outcomes(const DemoRow& row) {
  std::vector<Outcome> all;
  for (const DemoRequest& request : row.requests) all.push_back(request.outcome);
  return all;
}

TEST(BusiestPeriod, IsEmptyWhenNothingPassed) { EXPECT_EQ(busiest_period({}, 10s).passed, 0U); }

TEST(BusiestPeriod, LeavesOutItsOwnEnd) {
  const std::vector<Duration> instants{0s, 5s, 10s};
  EXPECT_EQ(busiest_period(instants, 10s).passed, 2U);
  EXPECT_EQ(busiest_period(instants, 10s + 1us).passed, 3U);
}

TEST(BusiestPeriod, BeginsWhereItIsFirstReached) {
  const std::vector<Duration> instants{0s, 20s, 21s, 22s, 40s, 41s, 42s};
  const Peak peak = busiest_period(instants, 10s);
  EXPECT_EQ(peak.passed, 3U);
  EXPECT_EQ(peak.from, 20s);
}

TEST(BusiestPeriod, CountsRequestsOfOneInstantEach) {
  const std::vector<Duration> instants{1s, 1s, 1s};
  EXPECT_EQ(busiest_period(instants, 1ms).passed, 3U);
}

TEST(DemoArrivals, PutTheLimitOnEachSideOfTheBoundary) {
  for (const std::int64_t limit : {1, 3, 10, 999, 10'000}) {
    const std::vector<Duration> arrivals = demo_arrivals(limit, 10s);
    EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end()));
    EXPECT_EQ(std::count_if(arrivals.begin(), arrivals.end(), [](Duration at) { return at < 0s; }),
              limit);
    EXPECT_EQ(std::count_if(arrivals.begin(), arrivals.end(),
                            [](Duration at) { return at >= 0s && at < 2s; }),
              limit);
  }
}

TEST(Demo, ShowsEveryAlgorithmOnce) {
  EXPECT_EQ(run_demo(per(10, 10s)).value().size(), 7U);
  EXPECT_EQ(run_by_algorithm(per(10, 10s)).size(), 7U);
}

TEST(Demo, SendsTheSameRequestsThroughAll) {
  const auto rows = run_by_algorithm(per(10, 10s));
  for (const auto& [algorithm, row] : rows) {
    EXPECT_EQ(row.requests.size(), rows.begin()->second.requests.size());
    EXPECT_EQ(row.requests.front().at, -2s);
  }
}

TEST(Demo, FixedWindowPassesTwiceTheLimit) {
  const DemoRow row = run_by_algorithm(per(10, 10s)).at(Algorithm::FixedWindow);
  EXPECT_EQ(row.peak.passed, 20U);
  EXPECT_EQ(row.peak.from, -2s);
}

TEST(Demo, AnchoredWindowStartsAgainOnePeriodAfterTheFirstRequest) {
  const DemoRow row = run_by_algorithm(per(10, 10s)).at(Algorithm::AnchoredWindow);
  for (const DemoRequest& request : row.requests) {
    const bool passes = request.at < 0s || request.at >= 8s;
    EXPECT_EQ(request.outcome == Outcome::Allowed, passes) << request.at.count();
  }
}

TEST(Demo, SlidingLogHasRoomAgainWhenTheOldestIsAPeriodOld) {
  const DemoRow row = run_by_algorithm(per(10, 10s)).at(Algorithm::SlidingLog);
  EXPECT_EQ(row.peak.passed, 10U);
  for (const DemoRequest& request : row.requests) {
    const bool passes = request.at < 0s || request.at >= 8s;
    EXPECT_EQ(request.outcome == Outcome::Allowed, passes) << request.at.count();
  }
}

TEST(Demo, SubWindowsHaveRoomAgainALittleLaterThanTheLog) {
  const auto rows = run_by_algorithm(per(10, 10s));
  EXPECT_LT(rows.at(Algorithm::SubWindows).passed, rows.at(Algorithm::SlidingLog).passed);
}

TEST(Demo, GcraDecidesAsTheTokenBucket) {
  for (const QuotaSpec& spec : {per(10, 10s), per(7, 13ms), per(10, 10s).burst(3)}) {
    const auto rows = run_by_algorithm(spec);
    EXPECT_EQ(outcomes(rows.at(Algorithm::Gcra)), outcomes(rows.at(Algorithm::TokenBucket)));
  }
}

TEST(Demo, KeepsThePublishedBounds) {
  for (const std::int64_t limit : {1, 2, 7, 10, 100}) {
    for (const Duration period :
         {Duration{1ms}, Duration{1s}, Duration{10s}, Duration{Days{366}}}) {
      const auto rows = run_by_algorithm(per(limit, period));
      const auto most = static_cast<std::uint64_t>(limit);
      EXPECT_EQ(rows.at(Algorithm::FixedWindow).peak.passed, 2 * most);
      EXPECT_EQ(rows.at(Algorithm::AnchoredWindow).peak.passed, most);
      EXPECT_EQ(rows.at(Algorithm::SlidingLog).peak.passed, most);
      EXPECT_EQ(rows.at(Algorithm::SubWindows).peak.passed, most);
      EXPECT_LE(rows.at(Algorithm::SlidingCounter).peak.passed, 2 * most - 1);
      EXPECT_LE(rows.at(Algorithm::TokenBucket).peak.passed, 2 * most - 1);
    }
  }
}

TEST(Demo, BurstCountsForTheBucketsAlone) {
  const auto rows = run_by_algorithm(per(10, 10s).burst(3));
  EXPECT_EQ(rows.at(Algorithm::TokenBucket).quota.capacity(), 3U);
  EXPECT_EQ(rows.at(Algorithm::FixedWindow).quota.capacity(), 10U);
  EXPECT_LE(rows.at(Algorithm::TokenBucket).peak.passed, 12U);
}

TEST(Demo, RejectsALimitThatAnAlgorithmCannotEnforce) {
  EXPECT_FALSE(run_demo(per(1'000'000'000, 10s)));
  EXPECT_FALSE(run_demo(per(0, 10s)));
}

}  // namespace
}  // namespace penstock::app
