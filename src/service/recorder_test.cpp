#include "service/recorder.hpp"

#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace penstock::service {
namespace {

using rules::OnFailure;
using rules::Rule;
namespace metrics = telemetry::metrics;

// Records the events of requests.
struct RecorderTest : ::testing::Test {
  // What one line of the metrics says; empty when there is none.
  [[nodiscard]] std::string line(const std::string& start) const {
    std::istringstream text(numbers.prometheus_text());
    for (std::string each; std::getline(text, each);) {
      if (each.starts_with(start + " ")) return each.substr(start.size() + 1);
    }
    return "";
  }
  [[nodiscard]] std::string decisions(const std::string& rule, const std::string& outcome) const {
    return line("penstock_decisions_total{domain=\"api\",outcome=\"" + outcome + "\",rule=\"" +
                rule + "\"}");
  }
  Answer decide(std::vector<rules::MatchedLimit> limits) {
    std::optional<Answer> answer;
    service::decide({.stores = service.store.stores(), .local = service.local, .events = recorder},
                    TestService::answer_with(std::move(limits)), "api", {},
                    [&](Answer said) { answer = std::move(said); });
    return *answer;
  }

  ManualClock clock;
  std::ostringstream lines;
  telemetry::Log log{{.clock = &clock}, lines};
  telemetry::Metrics numbers{"1.2.3"};
  telemetry::WorkerMetrics& worker = numbers.add_worker();
  telemetry::HotKeyRegistry board;
  telemetry::HotKeys hot_keys{board, 0};
  telemetry::RateLimitedLog limited{log, clock, worker.cell(metrics::kLogLinesSuppressed)};
  Recorder recorder{worker, hot_keys, limited};
  TestService service;

  Rule user{.index = 0, .domain = "api", .name = "user", .metric = "api/user"};
  Rule shadow{
      .index = 1, .domain = "api", .name = "shadow", .metric = "api/shadow", .shadow = true};
  Rule closed{.index = 2,
              .domain = "api",
              .name = "closed",
              .metric = "api/closed",
              .on_failure = OnFailure::Closed};
  Rule local{.index = 3,
             .domain = "api",
             .name = "local",
             .metric = "api/local",
             .on_failure = OnFailure::Local};
};

TEST_F(RecorderTest, CountsTheOutcomeOfEveryRule) {
  for (int i = 0; i < 3; ++i) decide({matched_limit(user, 2), matched_limit(shadow, 1)});
  EXPECT_EQ(decisions("api/user", "allowed"), "2");
  EXPECT_EQ(decisions("api/user", "denied"), "1");
  EXPECT_EQ(decisions("api/shadow", "allowed"), "1");
  EXPECT_EQ(decisions("api/shadow", "shadow_denied"), "1");
  EXPECT_EQ(line("penstock_shadow_denied_total"), "1");
  EXPECT_EQ(line(R"(penstock_requests_total{reason="over_limit",domain="api"})"), "1");
  EXPECT_EQ(line(R"(penstock_requests_total{reason="within_limits",domain="api"})"), "2");
  service.store.block_now({"s", "user"});
  decide({matched_limit(user, 2)});
  EXPECT_EQ(decisions("api/user", "blocked"), "1");
}

TEST_F(RecorderTest, DoesNotCountAPassingLimitOfADeniedRequest) {
  decide({matched_limit(user, 1, 2), matched_limit(local, 9)});
  EXPECT_EQ(decisions("api/user", "denied"), "1");
  EXPECT_EQ(decisions("api/local", "allowed"), "");
}

TEST_F(RecorderTest, CountsAndLogsWhatWasDecidedWithoutTheStore) {
  service.store.failure = Error{ErrorCode::ConnectionLost, "10.0.0.1:6379: connection lost"};
  decide({matched_limit(user, 1)});
  decide({matched_limit(closed, 1), matched_limit(user, 1)});
  decide({matched_limit(local, 4), matched_limit(user, 1)});
  EXPECT_EQ(decisions("api/user", "failed_open"), "2");
  EXPECT_EQ(decisions("api/closed", "failed_closed"), "1");
  EXPECT_EQ(decisions("api/local", "local"), "1");
  EXPECT_EQ(line("penstock_failed_open_total"), "1");
  EXPECT_EQ(line(R"(penstock_store_errors_total{kind="connection_lost"})"), "3");
  EXPECT_EQ(line("penstock_store_latency_seconds_count"), "3");
  EXPECT_NE(lines.str().find("10.0.0.1:6379: connection lost"), std::string::npos);
}

TEST_F(RecorderTest, LogsFewLinesHoweverManyRequestsFail) {
  service.store.failure = Error{ErrorCode::Timeout, "no reply"};
  for (int i = 0; i < 1000; ++i) decide({matched_limit(user, 1)});
  clock.advance(std::chrono::seconds{1});
  recorder.tick({});
  const std::string text = lines.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_NE(text.find("995 more"), std::string::npos);
  EXPECT_EQ(line("penstock_log_lines_suppressed_total"), "995");
}

TEST_F(RecorderTest, CountsUnknownDomainsAndLogsOneASecond) {
  for (int i = 0; i < 1000; ++i) {
    recorder.on_unknown_domain("apj" + std::to_string(i), rules::UnknownDomain::Allow);
  }
  recorder.on_unknown_domain("apj", rules::UnknownDomain::Deny);
  EXPECT_EQ(line("penstock_unknown_domain_requests_total{decision=\"allowed\"}"), "1000");
  EXPECT_EQ(line("penstock_unknown_domain_requests_total{decision=\"denied\"}"), "1");
  clock.advance(std::chrono::seconds{1});
  recorder.tick({});
  recorder.on_unknown_domain("again", rules::UnknownDomain::Deny);
  const std::string text = lines.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_NE(text.find("apj0"), std::string::npos) << text;
  EXPECT_NE(text.find("again"), std::string::npos) << text;
}

TEST_F(RecorderTest, ShowsTheBusiestAndTheMostDeniedKeys) {
  for (int i = 0; i < 3; ++i) decide({matched_limit(user, 2)});
  decide({matched_limit(local, 2)});
  recorder.tick({});
  const auto asked = board.top(telemetry::HotKeyKind::Requested, 10);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked.front().key, "user s");
  EXPECT_EQ(asked.front().count, 3U);
  const auto denied = board.top(telemetry::HotKeyKind::Denied, 10);
  ASSERT_EQ(denied.size(), 1U);
  EXPECT_EQ(denied.front().count, 1U);
}

// A decision counts the same, whichever way it was made.
TEST_F(RecorderTest, CountsLimitsThatComeWithTheRequest) {
  const Duration wait = std::chrono::seconds{1};
  const Decision allowed = Decision::allow(2, 1, wait);
  const Decision denied = Decision::deny(2, 0, wait, wait);
  for (const Decision& decision : {allowed, allowed, denied, Decision::block(2, wait)}) {
    recorder.on_take("alice", decision);
    TestEvents other;
    other.on_take("alice", decision);
    recorder.on_answer(other.domains.back(), other.answers.back());
  }
  const auto of_take = [this](const std::string& outcome) {
    return line(R"(penstock_decisions_total{domain="take",outcome=")" + outcome +
                R"(",rule="take"})");
  };
  EXPECT_EQ(of_take("allowed"), "4");
  EXPECT_EQ(of_take("denied"), "2");
  EXPECT_EQ(of_take("blocked"), "2");
  EXPECT_EQ(line(R"(penstock_requests_total{reason="over_limit",domain="take"})"), "4");
  EXPECT_EQ(line(R"(penstock_requests_total{reason="within_limits",domain="take"})"), "4");
  hot_keys.tick();
  ASSERT_EQ(board.top(telemetry::HotKeyKind::Requested, 5).size(), 1U);
  EXPECT_EQ(board.top(telemetry::HotKeyKind::Requested, 5).front().key, " alice");
  EXPECT_EQ(board.top(telemetry::HotKeyKind::Requested, 5).front().count, 8U);
  EXPECT_EQ(board.top(telemetry::HotKeyKind::Denied, 5).front().count, 4U);
}

TEST_F(RecorderTest, UsesTheMetricOfTheRequestInPlaceOfTheRules) {
  rules::MatchedLimit limit = matched_limit(user, 2);
  limit.metric = "api.key_value";
  decide({limit});
  limit.rule = nullptr;
  limit.metric.clear();
  decide({limit});
  EXPECT_EQ(decisions("api.key_value", "allowed"), "1");
  EXPECT_EQ(decisions("from_request", "allowed"), "1");
}

TEST_F(RecorderTest, ExportsTheHealthOfTheStoreAndOfMemory) {
  recorder.tick({.serving = false, .round_trips = 7, .script_loads = 2});
  EXPECT_EQ(line("penstock_store_serving"), "0");
  EXPECT_EQ(line("penstock_store_round_trips_total"), "7");
  EXPECT_EQ(line("penstock_store_script_reloads_total"), "2");
  const auto memory = numbers.add_source(memory_source(service.local_memory));
  const auto members = numbers.add_source(membership_source(service.members));
  EXPECT_EQ(line("penstock_memory_keys"), "0");
  EXPECT_EQ(line("penstock_nodes"), "4");
}

}  // namespace
}  // namespace penstock::service
