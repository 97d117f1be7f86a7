#include "bench/exactness.hpp"

#include <gtest/gtest.h>

namespace penstock::bench {
namespace {

const ExactnessCase kTwoKeys{.name = "two keys", .quota = per_day(10), .keys = 2};

constexpr Instant kNoon{Days{20'000} + std::chrono::hours{12}};
constexpr TimeSpan kFiveSeconds{.begin = kNoon, .end = kNoon + std::chrono::seconds{5}};

KeyCounts counts(std::vector<std::uint64_t> requests, std::vector<std::uint64_t> admitted) {
  KeyCounts counts(requests.size());
  counts.requests = std::move(requests);
  counts.admitted = std::move(admitted);
  return counts;
}

TEST(Exactness, IsExactWhenWhatFitsWasAdmittedAndNoMore) {
  const auto exactness = evaluate(kTwoKeys, counts({100, 7}, {10, 7}), kFiveSeconds);
  EXPECT_TRUE(exactness.is_exact());
  EXPECT_EQ(exactness.admitted, 17U);
  EXPECT_EQ(exactness.max_admitted, 20U);
}

TEST(Exactness, DetectsOneAdmissionTooMany) {
  const auto exactness = evaluate(kTwoKeys, counts({100, 7}, {11, 7}), kFiveSeconds);
  EXPECT_EQ(exactness.over_admitted, 1U);
  EXPECT_FALSE(exactness.is_exact());
}

TEST(Exactness, DetectsOneDenialThatShouldHaveBeenAdmitted) {
  const auto exactness = evaluate(kTwoKeys, counts({100, 7}, {10, 6}), kFiveSeconds);
  EXPECT_EQ(exactness.under_admitted, 1U);
  EXPECT_FALSE(exactness.is_exact());
}

TEST(Exactness, CountsAFailedRequestAsPossiblyAdmitted) {
  KeyCounts seen = counts({100, 7}, {9, 6});
  seen.failed = {1, 1};
  const auto exactness = evaluate(kTwoKeys, seen, kFiveSeconds);
  EXPECT_TRUE(exactness.is_exact());
  EXPECT_EQ(exactness.failed, 2U);
}

TEST(Exactness, CountsWhatRefilledMeanwhile) {
  const ExactnessCase refilling{.name = "refilling", .quota = per_second(10), .keys = 1};
  EXPECT_TRUE(evaluate(refilling, counts({500}, {60}), kFiveSeconds).is_exact());
  EXPECT_FALSE(evaluate(refilling, counts({500}, {61}), kFiveSeconds).is_exact());
}

TEST(Exactness, CountsWindowsOnlyWhereTheyBegin) {
  ExactnessCase daily{.name = "daily", .quota = Quota::parse("10/d fixed_window").value()};
  EXPECT_TRUE(evaluate(daily, counts({50}, {10}), kFiveSeconds).is_exact());
  EXPECT_FALSE(evaluate(daily, counts({50}, {11}), kFiveSeconds).is_exact());
  const Instant midnight{Days{20'000}};
  const TimeSpan over_midnight{.begin = midnight - std::chrono::seconds{2},
                               .end = midnight + std::chrono::seconds{2}};
  EXPECT_TRUE(evaluate(daily, counts({50}, {20}), over_midnight).is_exact());
  daily.quota = Quota::parse("10/d anchored_window").value();
  EXPECT_FALSE(evaluate(daily, counts({50}, {11}), over_midnight).is_exact());
}

// 40 requests in every step of 10 ms, from noon on.
std::vector<DemandLog::Entry> steady_demand(Duration time) {
  std::vector<DemandLog::Entry> demand;
  for (std::int64_t step = 0; step < time / DemandLog::kStep; ++step) {
    demand.push_back({.step = step, .key = 0, .requests = 40});
  }
  return demand;
}

TEST(Exactness, ComparesWithWhatAnExactLimiterAdmitsOfTheSameDemand) {
  const ExactnessCase refilling{.name = "refilling", .quota = per_second(1000).burst(10)};
  const TimeSpan span{.begin = kNoon, .end = kNoon + std::chrono::seconds{5}, .steady_zero = kNoon};
  KeyCounts seen = counts({20'000}, {5'000});
  seen.demand = steady_demand(std::chrono::seconds{5});
  const auto exactness = evaluate(refilling, seen, span);
  EXPECT_EQ(exactness.expected, 5'000U);  // ten at first, and what refills between 499 steps
  EXPECT_EQ(exactness.under_admitted, 0U);
  EXPECT_DOUBLE_EQ(exactness.utilisation(), 1);
  // what refills within a step may be missing, so may the last step, and 3 % of leases
  seen.admitted = {4'980};
  EXPECT_TRUE(evaluate(refilling, seen, span).is_exact());
  seen.admitted = {4'970};
  EXPECT_EQ(evaluate(refilling, seen, span).under_admitted, 10U);
  EXPECT_TRUE(evaluate(refilling, seen, span, {.percent_that_fits = 97}).is_exact());
  seen.admitted = {4'800};
  EXPECT_EQ(evaluate(refilling, seen, span, {.percent_that_fits = 97}).under_admitted, 30U);
  seen.slowest = std::chrono::milliseconds{40};
  EXPECT_TRUE(evaluate(refilling, seen, span, {.percent_that_fits = 97}).is_exact());
}

// A run of half a second that may or may not have crossed into the next window.
TEST(Exactness, AllowsForAWindowThatBeginsWithinTheUncertaintyOfTheClock) {
  const ExactnessCase windows{.name = "windows", .quota = Quota::parse("5/s fixed_window").value()};
  TimeSpan span{.begin = kNoon,
                .end = kNoon + std::chrono::seconds{1},
                .steady_zero = kNoon + std::chrono::milliseconds{540}};
  KeyCounts seen = counts({2'000}, {5});
  seen.demand = steady_demand(std::chrono::milliseconds{500});
  EXPECT_EQ(evaluate(windows, seen, span).expected, 10U);
  EXPECT_FALSE(evaluate(windows, seen, span).is_exact());
  span.uncertainty = std::chrono::milliseconds{40};
  EXPECT_TRUE(evaluate(windows, seen, span).is_exact());
}

// All of a log expires at once: perhaps just after the last request.
TEST(Exactness, AllowsForARunThatEndedJustBeforeAWindow) {
  const ExactnessCase log{.name = "log", .quota = Quota::parse("200/s sliding_log").value()};
  const TimeSpan span{.begin = kNoon, .end = kNoon + std::chrono::seconds{2}, .steady_zero = kNoon};
  KeyCounts seen = counts({8'040}, {400});
  seen.demand = steady_demand(std::chrono::milliseconds{2'010});
  EXPECT_EQ(evaluate(log, seen, span).expected, 440U);
  EXPECT_TRUE(evaluate(log, seen, span).is_exact());
  seen.admitted = {390};
  EXPECT_FALSE(evaluate(log, seen, span).is_exact());
}

TEST(Exactness, ExpectsNoMoreThanWasRequested) {
  const ExactnessCase daily{.name = "daily", .quota = per_day(100)};
  KeyCounts seen = counts({40}, {40});
  seen.demand = steady_demand(DemandLog::kStep);
  const auto exactness = evaluate(daily, seen, kFiveSeconds);
  EXPECT_EQ(exactness.expected, 40U);
  EXPECT_TRUE(exactness.is_exact());
}

TEST(Exactness, CountsKeysOfNodesThatDecideByThemselvesApart) {
  KeyCounts all(0);
  KeyCounts one = counts({10}, {5});
  one.demand = {{.step = 1, .key = 0, .requests = 10}};
  all.append(one);
  all.append(one);
  EXPECT_EQ(all.admitted, (std::vector<std::uint64_t>{5, 5}));
  const ExactnessCase daily{.name = "daily", .quota = per_day(5), .keys = 2};
  EXPECT_EQ(evaluate(daily, all, kFiveSeconds).expected, 10U);
}

TEST(Demand, AlternatesBetweenLoadAndPauses) {
  using std::chrono::milliseconds;
  const auto at = [](int time) { return SteadyTime{milliseconds{time}}; };
  EXPECT_EQ(pause_before(Demand::Full, at(1000), at(1000)), milliseconds{0});
  EXPECT_EQ(pause_before(Demand::Steady, at(1000), at(1001)), milliseconds{4});
  EXPECT_EQ(pause_before(Demand::Steady, at(1000), at(1005)), milliseconds{0});
  EXPECT_EQ(pause_before(Demand::Bursty, at(1000), at(1019)), milliseconds{0});
  EXPECT_EQ(pause_before(Demand::Bursty, at(1000), at(1020)), milliseconds{80});
  EXPECT_EQ(pause_before(Demand::Idle, at(600), at(651)), milliseconds{549});
  EXPECT_EQ(pause_before(Demand::Idle, at(600), at(1251)), milliseconds{0});  // woke up late
  for (const Demand each : {Demand::Full, Demand::Steady, Demand::Bursty, Demand::Idle}) {
    EXPECT_EQ(parse_demand(to_string(each)), each);
  }
  EXPECT_FALSE(parse_demand("sometimes"));
}

TEST(Demand, ARunOfTwoCyclesIsNeverWithoutARequest) {
  using std::chrono::milliseconds;
  for (const Demand demand : {Demand::Full, Demand::Steady, Demand::Bursty, Demand::Idle}) {
    for (int start = 1000; start < 1700; ++start) {
      const SteadyTime first{milliseconds{start}};
      const SteadyTime end = first + two_cycles(demand);
      EXPECT_LT(first + pause_before(demand, first, first), end) << to_string(demand) << start;
    }
  }
}

TEST(DemandLog, SumsUpTheRequestsOfAStep) {
  using std::chrono::milliseconds;
  DemandLog log(2);
  for (const int time : {0, 3, 9, 10}) log.note(1, SteadyTime{milliseconds{time}});
  const auto entries = log.take();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].requests, 3U);
  EXPECT_EQ(entries[1].requests, 1U);
  EXPECT_EQ(entries[1].step, 1);
}

TEST(Exactness, HasCasesForEveryAlgorithm) {
  for (const Algorithm algorithm :
       {Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::AnchoredWindow,
        Algorithm::SlidingLog, Algorithm::SlidingCounter, Algorithm::SubWindows}) {
    EXPECT_EQ(exactness_cases(algorithm).size(), 4U);
  }
}

TEST(Exactness, AddsUpWhatProcessesSaw) {
  KeyCounts sum = counts({1, 2}, {1, 0});
  sum.add(counts({10, 20}, {5, 6}));
  EXPECT_EQ(sum.requests, (std::vector<std::uint64_t>{11, 22}));
  EXPECT_EQ(sum.admitted, (std::vector<std::uint64_t>{6, 6}));
}

}  // namespace
}  // namespace penstock::bench
