#include "replay/statistics/denial_table.hpp"
#include "replay/statistics/limit_list.hpp"
#include "replay/statistics/peak_table.hpp"
#include "replay/statistics/timeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::replay {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Instant at(std::int64_t second) { return Instant{seconds{second}}; }

TEST(Timeline, WidensItsStepsAndLosesNothing) {
  Timeline timeline;
  std::uint64_t added = 0;
  for (const std::int64_t time : {7LL, 8LL, 700LL, 5'000LL, 100'000LL, 4'000'000'000LL}) {
    timeline.add(at(time), {.requests = 2, .denied = 1});
    ++added;
    std::uint64_t requests = 0;
    for (const Timeline::Step& step : timeline.steps()) requests += step.requests;
    EXPECT_EQ(requests, 2 * added);
    EXPECT_LE(timeline.steps().size(), Timeline::kMaxSteps);
    EXPECT_EQ(timeline.start().time_since_epoch() % timeline.width(), Duration{0});
  }
  EXPECT_LE(timeline.summary(10).steps.size(), 10U);
}

TEST(Timeline, CountsASecondPerStepInAShortLog) {
  Timeline timeline;
  timeline.add(at(100), {.requests = 1});
  timeline.add(at(102), {.requests = 1, .denied = 1});
  EXPECT_EQ(timeline.width(), seconds{1});
  EXPECT_EQ(timeline.steps(),
            (std::vector<Timeline::Step>{{.requests = 1}, {}, {.requests = 1, .denied = 1}}));
}

TEST(DenialTable, OrdersSubjectsByDenialsAndMeasuresTheirSpans) {
  DenialTable table(2);
  for (int i = 0; i < 5; ++i) table.deny(0, "a", at(i * 30), minutes{1});
  table.deny(0, "a", at(1000), minutes{1});
  table.deny(1, "a", at(1000), minutes{1});
  table.deny(0, "b", at(1001), minutes{1});
  table.deny(0, "b", at(1002), minutes{1});
  table.finish();
  const auto top = table.top(2);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].text, "a");
  EXPECT_EQ(top[0].denied, 6U);
  EXPECT_EQ(top[0].longest, seconds{120});
  EXPECT_EQ(top[1].text, "b");
  EXPECT_EQ(table.denied_by(0), 8U);
  EXPECT_EQ(table.subjects_of(0), 2U);
  EXPECT_EQ(table.spans().spans, 4U);
  EXPECT_EQ(table.spans().longest, seconds{120});
  EXPECT_EQ(table.spans().counts[0], 3U);  // up to a second
  EXPECT_EQ(table.spans().counts[3], 1U);  // up to ten minutes
}

TEST(DenialTable, CountsDenialsBeyondItsBound) {
  DenialTable table(1, 2);
  for (const char* subject : {"a", "b", "c", "d", "a"}) table.deny(0, subject, at(0), seconds{1});
  EXPECT_EQ(table.subjects(), 2U);
  EXPECT_EQ(table.not_listed(), 2U);
  EXPECT_EQ(table.denied_by(0), 5U);
}

TEST(DenialTable, KeepsTheStartAndAHashOfALongSubject) {
  DenialTable table(1);
  const std::string start = "user=" + std::string(100'000, 'x');
  for (const char* end : {"a", "a", "b"}) table.deny(0, start + end, at(0), seconds{1});
  EXPECT_EQ(table.subjects(), 2U);
  const auto top = table.top(1);
  EXPECT_EQ(top[0].denied, 2U);
  EXPECT_EQ(top[0].text.size(), DenialTable::kMaxSubjectBytes);
  EXPECT_EQ(top[0].text.substr(0, 100), start.substr(0, 100));
  EXPECT_EQ(top[0].text.substr(top[0].text.size() - 20, 4), "...#");
}

std::uint64_t most_within(const std::vector<std::int64_t>& times, Duration length) {
  std::uint64_t most = 0;
  for (const std::int64_t first : times) {
    const auto count = std::count_if(times.begin(), times.end(), [&](std::int64_t time) {
      return time >= first && Duration{time - first} < length;
    });
    most = std::max(most, static_cast<std::uint64_t>(count));
  }
  return most;
}

// At least the usage in any period, at most that in a period and a 60th.
RC_GTEST_PROP(PeakTable, BoundsTheUsageOfAnyPeriod, ()) {
  auto times = *rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(0, 300'000'000));
  std::sort(times.begin(), times.end());
  PeakTable table(minutes{1});
  for (const std::int64_t time : times) table.add("a", 1, Instant{Duration{time}});
  if (times.empty()) return;
  const std::uint64_t peak = table.sorted_peaks().front();
  RC_ASSERT(peak >= most_within(times, minutes{1}));
  RC_ASSERT(peak <= most_within(times, minutes{1} + seconds{1}));
}

TEST(PeakTable, CountsAWholePeriodThatHasNo60thPart) {
  PeakTable table(seconds{7});  // 60 slots of 116 666 us are 40 us shorter
  const Instant start{Duration{116'665}};
  for (const Duration after : {Duration{0}, Duration{seconds{7}} - Duration{1}}) {
    table.add("a", 1, start + after);
  }
  EXPECT_EQ(table.sorted_peaks().front(), 2U);
}

TEST(PeakTable, SuggestsRoundLimitsAndCountsThoseAbove) {
  std::vector<std::uint64_t> peaks(10'000, 5);
  for (std::size_t i = 9'000; i < 9'985; ++i) peaks[i] = 240;
  for (std::size_t i = 9'985; i < 10'000; ++i) peaks[i] = 290 + (i - 9'985) * 10;
  const std::vector<Suggestion> suggestions = suggest_limits(peaks);
  ASSERT_EQ(suggestions.size(), 3U);
  EXPECT_EQ(suggestions[0].peak, 240U);
  EXPECT_EQ(suggestions[0].limit, 300U);
  EXPECT_EQ(suggestions[0].subjects_above, 13U);
  EXPECT_EQ(suggestions[1].per_mille, 999U);
  EXPECT_EQ(suggestions[1].peak, 330U);
  EXPECT_EQ(suggestions[2].peak, 430U);
  EXPECT_EQ(suggestions[2].limit, 500U);
  EXPECT_EQ(suggestions[2].subjects_above, 0U);
}

TEST(PeakTable, RoundsUp) {
  EXPECT_EQ(round_limit(0), 1U);
  EXPECT_EQ(round_limit(7), 10U);
  EXPECT_EQ(round_limit(10), 10U);
  EXPECT_EQ(round_limit(11), 15U);
  EXPECT_EQ(round_limit(240), 300U);
  EXPECT_EQ(round_limit(801), 1000U);
  EXPECT_GE(round_limit(~std::uint64_t{0}), ~std::uint64_t{0});
}

TEST(PeakTable, SaysThatItIsIncompleteBeyondItsBound) {
  PeakTable table(minutes{1}, 1);
  table.add("a", ~std::uint64_t{0}, at(1));
  table.add("a", ~std::uint64_t{0}, at(2));
  EXPECT_FALSE(table.is_incomplete());
  table.add("b", 1, at(3));
  EXPECT_TRUE(table.is_incomplete());
  EXPECT_EQ(table.subjects(), 1U);
}

TEST(LimitList, WritesRates) {
  EXPECT_EQ(rate_text(300, minutes{1}), "300/m");
  EXPECT_EQ(rate_text(5, seconds{90}), "5/90s");
  EXPECT_EQ(rate_text(5'000'000'000, minutes{1}), "5000000000 per period");
}

}  // namespace
}  // namespace penstock::replay
