#include "service/near_limits.hpp"

#include "service/recorder.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace penstock::service {
namespace {

using std::chrono::seconds;

constexpr Duration kMinute = std::chrono::minutes{1};

TEST(IsNearLimit, AtTheShareAndNotBelow) {
  EXPECT_FALSE(is_near_limit(Decision::allow(10, 3, kMinute), 8'000));
  EXPECT_TRUE(is_near_limit(Decision::allow(10, 2, kMinute), 8'000));
  EXPECT_TRUE(is_near_limit(Decision::deny(10, 0, kMinute, kMinute), rules::kWhole));
  EXPECT_FALSE(is_near_limit(Decision::allow(3, 1, kMinute), 6'667));  // 66.67% of 3 is more than 2
  EXPECT_TRUE(is_near_limit(Decision::allow(3, 1, kMinute), 6'666));
  EXPECT_TRUE(is_near_limit(Decision::allow(4'000'000'000U, 0, kMinute), rules::kWhole));
  EXPECT_FALSE(is_near_limit(Decision::never_fits(0, 0, kMinute), 1));
  EXPECT_FALSE(is_near_limit(Decision::block(10, kMinute), 1));
}

TEST(NearLimitTable, ReportsASubjectOncePerWindow) {
  NearLimitTable table;
  Instant now{};
  EXPECT_TRUE(table.add(7, now, now + seconds{10}));
  EXPECT_FALSE(table.add(7, now + seconds{9}, now + seconds{60}));
  EXPECT_TRUE(table.add(7, now + seconds{10}, now + seconds{20}));
  EXPECT_TRUE(table.add(8, now, now + seconds{10}));
}

TEST(NearLimitTable, TheEntryThatExpiresFirstMakesRoom) {
  NearLimitTable table;
  constexpr std::uint64_t kSets = NearLimitTable::kSubjects / 4;
  const Instant now{};
  for (std::uint64_t i = 1; i <= 4; ++i) {
    EXPECT_TRUE(table.add(i * kSets, now, now + seconds{10 * static_cast<int>(i)}));
  }
  EXPECT_TRUE(table.add(5 * kSets, now, now + seconds{99}));
  for (std::uint64_t i = 2; i <= 5; ++i) EXPECT_FALSE(table.add(i * kSets, now, now + kMinute));
  EXPECT_TRUE(table.add(1 * kSets, now, now + seconds{99}));
}

// Two workers of a node.
struct NearLimitsTest : ::testing::Test {
  Answer decide(Recorder& by, const std::string& subject) {
    rules::MatchedLimit limit = matched_limit(rule, 10);
    limit.check.name.subject = subject;
    std::optional<Answer> answer;
    ServiceDeps deps = service.deps();
    service::decide({.stores = deps.stores,
                     .local = deps.local,
                     .events = by,
                     .store_timeout = deps.store_timeout,
                     .clock = deps.clock},
                    TestService::answer_with({limit}), "api", {},
                    [&](Answer said) { answer = std::move(said); });
    return *answer;
  }
  [[nodiscard]] std::int64_t crossings() const {
    return numbers.total(telemetry::metrics::kNearLimit);
  }
  [[nodiscard]] std::ptrdiff_t log_lines() const {
    const std::string text = lines.str();
    return std::count(text.begin(), text.end(), '\n');
  }

  rules::Rule rule{.domain = "api", .name = "r", .metric = "api/r", .near_limit = 8'000};
  TestService service;
  std::ostringstream lines;
  telemetry::Log log{{.clock = &service.clock}, lines};
  telemetry::Metrics numbers{"test"};
  telemetry::WorkerMetrics& worker = numbers.add_worker();
  telemetry::WorkerMetrics& second_worker = numbers.add_worker();
  telemetry::HotKeyRegistry board;
  telemetry::HotKeys hot_keys{board, 0};
  telemetry::RateLimitedLog limited{log, service.clock,
                                    worker.cell(telemetry::metrics::kLogLinesSuppressed)};
  SharedNearLimits shared;
  NearLimits near{worker, log, shared, service.clock};
  NearLimits second_near{second_worker, log, shared, service.clock};
  Recorder recorder{worker, hot_keys, limited, &near};
  Recorder second{second_worker, hot_keys, limited, &second_near};
};

TEST_F(NearLimitsTest, CountsAndLogsTheFirstCrossingOfASubject) {
  for (int i = 0; i < 7; ++i) decide(recorder, "user=a");
  EXPECT_EQ(crossings(), 0);
  for (int i = 0; i < 10; ++i) decide(recorder, "user=a");
  EXPECT_EQ(crossings(), 1);
  EXPECT_EQ(log_lines(), 1);
  EXPECT_NE(lines.str().find(R"(info a subject is near its limit rule="r" subject="user=a" )"
                             R"(used="8" limit="10" reset_after=)"),
            std::string::npos)
      << lines.str();
  for (int i = 0; i < 10; ++i) decide(recorder, "user=b");
  EXPECT_EQ(crossings(), 2);
}

TEST_F(NearLimitsTest, OnceForAllWorkersOfANode) {
  for (int i = 0; i < 5; ++i) {
    decide(recorder, "user=a");
    decide(second, "user=a");
  }
  EXPECT_EQ(crossings(), 1);
  EXPECT_EQ(log_lines(), 1);
}

TEST_F(NearLimitsTest, TheLogIsRateLimitedAndTheMetricIsNot) {
  for (int user = 0; user < 50; ++user) {
    for (int i = 0; i < 8; ++i) decide(recorder, "user=" + std::to_string(user));
  }
  EXPECT_EQ(crossings(), 50);
  EXPECT_EQ(log_lines(), telemetry::RateLimitedLog::kLinesPerSecond);
}

TEST_F(NearLimitsTest, ARuleWithoutItReportsNothing) {
  rule.near_limit = 0;
  for (int i = 0; i < 10; ++i) decide(recorder, "user=a");
  EXPECT_EQ(crossings(), 0);
  EXPECT_EQ(log_lines(), 0);
}

}  // namespace
}  // namespace penstock::service
