#include "wire/http/admin/fleet/fleet_view.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::http {
namespace {

using std::chrono::seconds;
using telemetry::CountSeries;
using telemetry::RequestCounts;

Instant at_second(std::int64_t second) { return Instant{seconds{second}}; }

CountSeries denied_series(std::int64_t from, std::vector<std::uint64_t> denied) {
  CountSeries series{.from = at_second(from)};
  for (const std::uint64_t count : denied) series.steps.push_back({.denied = count});
  return series;
}

NodeSummary node(const std::string& name) {
  NodeSummary summary{.state = {.node = name, .version = "1", .config_hash = "aa"}};
  summary.state.seen_at = at_second(1);
  summary.details.emplace();
  return summary;
}

TEST(NodeSummary, SurvivesAsText) {
  NodeSummary summary = node("host/1/2");
  summary.state.reload_error = "<script>alert(1)</script> \"quoted\" \xff";
  summary.state.enforcement.add(Enforcement::NotEnforcing, "no rule is loaded");
  NodeDetails& details = *summary.details;
  details.seconds = denied_series(100, {1, 2, 3});
  details.marks = {{.at = at_second(4), .kind = telemetry::MarkKind::Outage, .text = "down"}};
  RuleStats& rule = details.rules.emplace_back();
  rule.recent.rule = "api/search";
  rule.recent.denied_per_s = 1.5;
  rule.recent.denied.back() = 9;
  rule.subjects_denied.add("a");
  details.top_denied = {
      {.rule = "api/search", .subject = "user=</script>", .asked = 2, .denied = 1}};
  details.denied = {
      {.key = "api/search user=1", .first = at_second(1), .last = at_second(2), .count = 3}};
  details.all_denied = 7;
  const Result<NodeSummary> read = parse_summary(to_text(summary));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->state.node, "host/1/2");
  EXPECT_EQ(read->state.enforcement.state, Enforcement::NotEnforcing);
  EXPECT_TRUE(read->state.reload_error.starts_with("<script>alert(1)</script> \"quoted\" "));
  EXPECT_EQ(read->details->seconds.steps, details.seconds.steps);
  EXPECT_EQ(read->details->top_denied.front().subject, "user=</script>");
  EXPECT_EQ(read->details->denied, details.denied);
  EXPECT_EQ(read->details->rules.front().recent.denied, rule.recent.denied);
  EXPECT_EQ(read->details->rules.front().subjects_denied.estimate(), 1U);
  EXPECT_EQ(read->details->marks.front().kind, telemetry::MarkKind::Outage);
}

TEST(NodeSummary, IsBounded) {
  NodeSummary summary = node("host/1/2");
  NodeDetails& details = *summary.details;
  details.seconds.steps.resize(300);
  details.rules.resize(1000);
  details.top_denied.resize(1000);
  details.top_asked.resize(1000);
  details.denied.resize(1000);
  details.marks.resize(1000);
  const Result<NodeSummary> read = parse_summary(to_text(summary));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->details->rules.size(), SummaryBounds::kRules);
  EXPECT_EQ(read->details->seconds.steps.size(), SummaryBounds::kSeconds);
  for (TopEntry& entry : details.top_denied) entry.subject = std::string(5000, 'x');
  const std::string text = to_text(summary);
  EXPECT_LE(text.size(), SummaryBounds::kMaxBytes);
  EXPECT_FALSE(parse_summary(text)->details.has_value());
}

RC_GTEST_PROP(NodeSummaryProperty, AnyTextIsReadOrRejected, (const std::string& text)) {
  static_cast<void>(parse_summary(text));
  static_cast<void>(parse_history(text));
}

TEST(NodeSummary, MalformedReportsAreSkipped) {
  FleetView fleet;
  fleet.update("own", {"{}", "[1]", "x", R"({"node":1})", to_text(node("b"))}, {"{}", "x"});
  EXPECT_EQ(fleet.states().size(), 1U);
}

TEST(FleetView, AnotherConfigurationIsMarked) {
  FleetView fleet;
  NodeSummary other = node("host-b/7/9");
  other.state.config_hash = "bb";
  NodeSummary own = node("own");
  fleet.update("own", {to_text(other), to_text(own), to_text(node("c/1/1"))}, {});
  EXPECT_EQ(fleet.states().size(), 2U) << "without this node";
  EnforcementReport report;
  fleet.add_to(report, own.state);
  EXPECT_EQ(report.state, Enforcement::Degraded);
  EXPECT_EQ(report.reasons,
            std::vector<std::string>{"1 of 3 nodes have another configuration: host-b/7"});
}

TEST(FleetView, TheReasonsOfOtherNodesAreNamed) {
  FleetView fleet;
  NodeSummary other = node("b/1/1");
  other.state.enforcement.add(Enforcement::NotEnforcing, "Redis unreachable");
  fleet.update("own", {to_text(other)}, {});
  EnforcementReport report;
  fleet.add_to(report, node("own").state);
  EXPECT_EQ(report.state, Enforcement::NotEnforcing);
  EXPECT_EQ(report.reasons, std::vector<std::string>{"b/1: Redis unreachable"});
}

TEST(FleetView, HistoriesAreSummedByTheirTimes) {
  FleetView fleet;
  NodeSummary other = node("b");
  other.details->seconds = denied_series(105, {50, 60});
  other.details->marks = {{.at = at_second(104), .text = "reload"}};
  const NodeHistory history{.node = "b", .seconds = denied_series(102, {20, 30, 40})};
  fleet.update("own", {to_text(other)}, {to_text(history)});
  HistoryReport report{.series = denied_series(103, {1, 1, 1, 1, 1, 1, 1}), .now = at_second(110)};
  fleet.add_to(report);
  // from the begin of the other node, without the last seconds, which it may not have reported
  EXPECT_EQ(report.series.from, at_second(102));
  EXPECT_EQ(report.series.steps, denied_series(0, {20, 31, 41, 51, 61}).steps);
  ASSERT_EQ(report.marks.size(), 1U);
  EXPECT_EQ(report.marks[0].node, "b");
}

TEST(FleetView, TheHourContinuesWithSecondsOfSummaries) {
  EXPECT_EQ(in_tens(denied_series(105, std::vector<std::uint64_t>(20, 1))).from, at_second(110));
  EXPECT_EQ(in_tens(denied_series(105, std::vector<std::uint64_t>(20, 1))).steps,
            denied_series(0, {10}).steps);
  CountSeries series = denied_series(10, {1, 2, 3});
  overlay(series, denied_series(12, {30, 40, 50}), 4);
  EXPECT_EQ(series.from, at_second(11));
  EXPECT_EQ(series.steps, denied_series(0, {2, 30, 40, 50}).steps);
  overlay(series, denied_series(10'000, {7}), 4);
  EXPECT_EQ(series.from, at_second(10'000));
}

TEST(FleetView, RulesAndTopSubjectsAreSummed) {
  FleetView fleet;
  NodeSummary other = node("b");
  RuleStats& rule = other.details->rules.emplace_back();
  rule.recent.rule = "api/a";
  rule.recent.denied_per_s = 3;
  rule.subjects_denied.add("x");
  other.details->top_denied = {{.rule = "api/a", .subject = "u=1", .asked = 9, .denied = 8},
                               {.rule = "api/a", .subject = "u=2", .asked = 2, .denied = 1}};
  other.details->all_denied = 9;
  fleet.update("own", {to_text(other)}, {});
  RuleStatsByMetric stats;
  stats["api/a"].recent.denied_per_s = 2;
  stats["api/a"].subjects_denied.add("x");
  fleet.add_to(stats);
  EXPECT_DOUBLE_EQ(stats["api/a"].recent.denied_per_s, 5);
  EXPECT_EQ(stats["api/a"].subjects_denied.estimate(), 1U) << "the same subject on both nodes";
  TopReport top{.entries = {{.rule = "api/a", .subject = "u=2", .asked = 20, .denied = 10}},
                .all_denied = 10};
  fleet.add_to(top, {.by = TopBy::Denied});
  ASSERT_EQ(top.entries.size(), 2U);
  EXPECT_EQ(top.entries[0].subject, "u=2");
  EXPECT_EQ(top.entries[0].denied, 11U);
  EXPECT_EQ(top.all_denied, 19U);
}

}  // namespace
}  // namespace penstock::http
