#include "telemetry/history.hpp"

#include "telemetry/denied_subjects.hpp"
#include "telemetry/latency_window.hpp"
#include "telemetry/rule_activity.hpp"

#include <gtest/gtest.h>

namespace penstock::telemetry {
namespace {

using std::chrono::seconds;

Instant at(std::int64_t second) { return Instant{seconds{second}}; }

TEST(History, HasTheDifferencesOfCompleteSeconds) {
  History history;
  history.sample(at(1000), {.admitted = 50});
  history.sample(at(1001) + std::chrono::milliseconds{5}, {.admitted = 60, .denied = 2});
  history.sample(at(1002) + std::chrono::milliseconds{700}, {.admitted = 61, .denied = 2});
  const CountSeries series = history.series(History::Span::FiveMinutes);
  EXPECT_EQ(series.from, at(999));
  EXPECT_EQ(series.end(), at(1002));
  ASSERT_EQ(series.steps.size(), 3U);
  EXPECT_EQ(series.steps[0], RequestCounts{}) << "what was before the first sample is unknown";
  EXPECT_EQ(series.steps[1], (RequestCounts{.admitted = 10, .denied = 2}));
  EXPECT_EQ(series.steps[2], (RequestCounts{.admitted = 1}));
  EXPECT_EQ(history.last_second(), (RequestCounts{.admitted = 1}));
}

TEST(History, KeepsFiveMinutesAndAnHour) {
  History history;
  RequestCounts totals;
  for (std::int64_t second = 10'000; second <= 20'000; ++second) {
    history.sample(at(second), totals);
    totals.denied += 3;
  }
  const CountSeries minutes = history.series(History::Span::FiveMinutes);
  EXPECT_EQ(minutes.steps.size(), History::kSeconds);
  EXPECT_EQ(minutes.end(), at(20'000));
  for (const RequestCounts& step : minutes.steps) EXPECT_EQ(step.denied, 3U);
  const CountSeries hour = history.series(History::Span::Hour);
  EXPECT_GE(hour.steps.size(), History::kTens - 1);
  EXPECT_LE(hour.steps.size(), History::kTens);
  EXPECT_EQ(hour.end(), at(20'000));
  for (const RequestCounts& step : hour.steps) EXPECT_EQ(step.denied, 30U);
}

TEST(History, MissedSamplesAndAClockThatStepsBackLoseNothing) {
  History history;
  history.sample(at(1000), {});
  history.sample(at(1010), {.admitted = 7});
  history.sample(at(1005), {.admitted = 9});
  const CountSeries series = history.series(History::Span::FiveMinutes);
  EXPECT_EQ(series.steps.size(), 11U);
  EXPECT_EQ(series.steps.back().admitted, 9U);
}

TEST(History, StepsAfterAnInstantAreOnlyTheNewOnes) {
  const CountSeries series{.from = at(100), .steps = std::vector<RequestCounts>(5)};
  EXPECT_EQ(steps_after(series, at(0)).steps.size(), 5U);
  EXPECT_EQ(steps_after(series, at(103)).from, at(103));
  EXPECT_EQ(steps_after(series, at(103)).steps.size(), 2U);
  EXPECT_TRUE(steps_after(series, at(105)).steps.empty());
  EXPECT_TRUE(steps_after(series, at(900)).steps.empty());
}

TEST(History, MemoryIsBounded) {
  History history;
  for (int i = 0; i < 1000; ++i) {
    history.sample(at(1000 + i), {});
    history.mark(at(1000 + i), MarkKind::Reload, std::string(10'000, 'x'));
  }
  EXPECT_EQ(history.marks().size(), History::kMaxMarks);
  EXPECT_LE(history.bytes(), History::kMaxBytes);
  EXPECT_LE(History::kMaxBytes, 61'000U) << "the figure in docs/reference/http-api.md";
  EXPECT_LE(RuleActivity::kMaxBytes, 131'000U) << "the same";
  EXPECT_LE(sizeof(LatencyWindow), 8'000U) << "the same";
}

TEST(RuleActivity, HasDenialsBySecondAndRates) {
  RuleActivity activity;
  base::TextMap<RuleTotals> totals;
  totals["api/a"] = {.denied = 1000};
  activity.sample(totals);
  for (int i = 0; i < 10; ++i) {
    totals["api/a"].admitted += 5;
    totals["api/a"].denied += 2;
    activity.sample(totals);
  }
  const std::vector<RuleRecent> recent = activity.recent();
  ASSERT_EQ(recent.size(), 1U);
  EXPECT_EQ(recent[0].denied.back(), 2U);
  EXPECT_EQ(recent[0].denied[RuleRecent::kSeconds - 11], 0U) << "what was before is unknown";
  EXPECT_DOUBLE_EQ(recent[0].denied_per_s, 2);
  EXPECT_DOUBLE_EQ(recent[0].admitted_per_s, 5);
}

TEST(RuleActivity, IsBoundedAndForgetsIdleRules) {
  RuleActivity activity;
  base::TextMap<RuleTotals> totals;
  for (int i = 0; i < 1000; ++i) totals["rule " + std::to_string(i)] = {};
  activity.sample(totals);
  EXPECT_EQ(activity.recent().size(), RuleActivity::kMaxRules);
  totals.clear();
  for (std::size_t i = 0; i < 2 * RuleRecent::kSeconds; ++i) activity.sample(totals);
  totals["new"] = {.denied = 3};
  activity.sample(totals);
  std::uint64_t denied = 0;
  for (const RuleRecent& each : activity.recent()) denied += each.denied.back();
  EXPECT_EQ(denied, 3U);
}

TEST(LatencyWindow, InterpolatesWithinABucket) {
  LatencyBuckets buckets{};
  EXPECT_EQ(latency_percentile(buckets, 50), LatencyCells::Duration{0});
  buckets[3] = 100;  // from 50 to 100 us
  EXPECT_EQ(latency_percentile(buckets, 50), std::chrono::microseconds{75});
  EXPECT_EQ(latency_percentile(buckets, 100), std::chrono::microseconds{100});
  buckets.back() = 100;  // more than two seconds
  EXPECT_EQ(latency_percentile(buckets, 99), seconds{2});
}

TEST(LatencyWindow, HasTheLastMinuteOnly) {
  LatencyWindow window;
  LatencyBuckets totals{};
  for (int i = 0; i < 200; ++i) {
    totals[1] += 2;
    window.sample(totals);
  }
  EXPECT_EQ(window.last_minute()[1], 120);
}

TEST(DistinctSketch, EstimatesWithinItsError) {
  DistinctSketch sketch;
  EXPECT_EQ(sketch.estimate(), 0U);
  for (const std::uint64_t count : {1U, 10U, 100U, 1'000U, 20'000U}) {
    for (std::uint64_t i = 0; i < count; ++i) sketch.add("user=" + std::to_string(i));
    EXPECT_NEAR(static_cast<double>(sketch.estimate()), static_cast<double>(count),
                0.3 * static_cast<double>(count));
  }
}

TEST(DistinctSketch, MergesAndSurvivesAsText) {
  DistinctSketch one;
  DistinctSketch other;
  for (int i = 0; i < 40; ++i) one.add(std::to_string(i));
  for (int i = 20; i < 60; ++i) other.add(std::to_string(i));
  one.merge(*DistinctSketch::parse(other.to_text()));
  EXPECT_NEAR(static_cast<double>(one.estimate()), 60, 12);
  EXPECT_FALSE(DistinctSketch::parse("short").has_value());
  EXPECT_FALSE(DistinctSketch::parse(std::string(128, '~')).has_value());
}

TEST(DeniedSubjects, KnowSinceWhen) {
  DeniedSubjects denied;
  denied.tick(at(100));
  denied.add("api/a user=1", 1);
  denied.tick(at(130));
  denied.add("api/a user=1", 8);
  EXPECT_EQ(denied.snapshot().subjects,
            (std::vector<DeniedSubject>{
                {.key = "api/a user=1", .first = at(100), .last = at(130), .count = 9}}));
  denied.tick(at(200));
  denied.add("api/a user=1", 1);
  EXPECT_EQ(denied.snapshot().subjects.front().first, at(200)) << "denied again after a pause";
}

TEST(DeniedSubjects, AreBounded) {
  DeniedSubjects denied;
  for (int i = 0; i < 10'000; ++i) {
    if (i % 100 == 0) denied.tick(at(i / 100));
    const std::string rule = "api/rule" + std::to_string(i);
    const std::string key = rule + std::string(DeniedSubjects::kMaxKeyBytes - rule.size(), 'x');
    denied.add(key, 1);
    denied.add_subject(key, "subject");
  }
  const DeniedSnapshot snapshot = denied.snapshot();
  EXPECT_EQ(snapshot.subjects.size(), DeniedSubjects::kMaxSubjects);
  EXPECT_LE(snapshot.rules.size(), DeniedSubjects::kMaxRules);
  EXPECT_LE(denied.bytes(), DeniedSubjects::kMaxBytes);
  EXPECT_LE(DeniedSubjects::kMaxBytes, 280'000U) << "the figure in docs/reference/http-api.md";
  for (const DeniedSubject& each : snapshot.subjects) EXPECT_GT(each.last, at(80));
}

TEST(DeniedSubjects, OfSeveralWorkersAreOne) {
  const DeniedSubject one{.key = "a", .first = at(5), .last = at(9), .count = 2};
  const DeniedSubject other{.key = "a", .first = at(3), .last = at(7), .count = 1};
  const DeniedSubject newer{.key = "b", .first = at(4), .last = at(4), .count = 1};
  const auto merged = merge_denied({{.subjects = {one}}, {.subjects = {other, newer}}});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0], newer);
  EXPECT_EQ(merged[1], (DeniedSubject{.key = "a", .first = at(3), .last = at(9), .count = 3}));
}

}  // namespace
}  // namespace penstock::telemetry
