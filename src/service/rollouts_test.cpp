#include "service/rollouts.hpp"

#include "rules/model/configuration.hpp"
#include "service/recorder.hpp"
#include "service/service.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace penstock::service {
namespace {

using std::chrono::seconds;

std::shared_ptr<const rules::Ruleset> ruleset_with(const std::string& rules) {
  return rules::load_text("domains: {api: {rules: [" + rules + "]}}", "p.yaml")
      .configuration.value()
      .rules;
}

const std::string kRule =
    "{name: r, key: [user], limit: 1/day, algorithm: fixed_window, enforce: 100%, "
    "abort: {denied_above: 20%, over: 10s, min_requests: 10}}";

// A node with one worker.
struct RolloutsTest : ::testing::Test {
  Answer decide(const std::string& user) {
    std::optional<Answer> answer;
    service->decide({.domain = "api", .descriptors = {{.entries = {{"user", user}}}}}, {},
                    [&](Answer said) { answer = std::move(said); });
    return *answer;
  }
  void use(const std::shared_ptr<const rules::Ruleset>& rules) {
    rollouts.use(rules, now);
    if (service) return service->use(rules);
    ServiceDeps deps = parts.deps();
    service.emplace(ServiceDeps{.stores = parts.store.stores(),
                                .local = parts.local,
                                .events = recorder,
                                .store_timeout = deps.store_timeout,
                                .clock = deps.clock,
                                .overrides = &live,
                                .rollouts = &rollouts},
                    rules);
  }
  void tick() { rollouts.tick(now += seconds{1}, Instant{seconds{1'000}}); }
  // Ten requests of new users, `denied` of which are denied.
  void ten_requests(int denied) {
    const std::string name = "u" + std::to_string(++rounds) + "-";
    for (int i = 0; i < 10 - denied; ++i) decide(name + std::to_string(i));
    for (int i = 0; i < denied; ++i) decide(name + "0");
  }
  [[nodiscard]] bool has_metric(const std::string& value) const {
    return numbers.prometheus_text().find("penstock_rollout_aborted{rule=\"api/r\"} " + value) !=
           std::string::npos;
  }

  TestService parts;
  std::ostringstream lines;
  telemetry::Log log{{.clock = &parts.clock}, lines};
  LiveOverrides live;
  telemetry::Metrics numbers{"test"};
  telemetry::WorkerMetrics& worker = numbers.add_worker();
  telemetry::HotKeyRegistry board;
  telemetry::HotKeys hot_keys{board, 0};
  telemetry::RateLimitedLog limited{log, parts.clock,
                                    worker.cell(telemetry::metrics::kLogLinesSuppressed)};
  Recorder recorder{worker, hot_keys, limited};
  Rollouts rollouts{numbers, log};
  base::Deadline now{};
  int rounds = 0;
  std::optional<Service> service;
};

TEST_F(RolloutsTest, ARuleThatDeniesTooMuchFallsBackToShadowMode) {
  use(ruleset_with(kRule));
  EXPECT_TRUE(has_metric("0"));
  ten_requests(2);
  tick();
  EXPECT_FALSE(rollouts.report().at(0).aborted);
  EXPECT_FALSE(decide("u1-0").allowed);
  ten_requests(4);
  tick();
  const RolloutReport report = rollouts.report().at(0);
  EXPECT_TRUE(report.aborted);
  EXPECT_EQ(report.rule, "api/r");
  EXPECT_EQ(report.aborted_at, Instant{seconds{1'000}});
  EXPECT_EQ(report.recent.enforced, 21U);
  EXPECT_EQ(report.recent.denied, 7U);
  EXPECT_TRUE(has_metric("1"));
  const Answer answer = decide("u1-0");
  EXPECT_TRUE(answer.allowed);
  EXPECT_TRUE(answer.limits.at(0).shadow);
  EXPECT_FALSE(answer.limits.at(0).decision->allowed());
  EXPECT_NE(lines.str().find("warning roll-out aborted rule=\"api/r\" enforce=\"100%\" "
                             "reason=\"api/r: 33.33% of 21 requests were denied within 10 s, more "
                             "than 20%; the rule is in shadow mode until the rule changes or a "
                             "restart\""),
            std::string::npos)
      << lines.str();
}

TEST_F(RolloutsTest, AnAbortHoldsUntilTheRuleChanges) {
  use(ruleset_with(kRule));
  ten_requests(9);
  tick();
  for (int i = 0; i < 100; ++i) {
    ten_requests(0);
    tick();
  }
  EXPECT_TRUE(decide("u1-0").allowed);
  EXPECT_EQ(lines.str().find("aborted"), lines.str().rfind("roll-out aborted") + 9);  // once
  const RolloutReport before = rollouts.report().at(0);
  use(ruleset_with("{name: new, limit: 9/day}, " + kRule));
  EXPECT_TRUE(decide("u1-0").allowed);
  const RolloutReport report = rollouts.report().at(0);
  EXPECT_TRUE(report.aborted);
  EXPECT_EQ(report.aborted_at, before.aborted_at);
  EXPECT_EQ(abort_text(report), abort_text(before));
  EXPECT_TRUE(has_metric("1"));
}

TEST_F(RolloutsTest, AChangedRuleStartsItsRollOutAgain) {
  const auto replaced = [](const std::string& from, const std::string& by) {
    std::string rule = kRule;
    return rule.replace(rule.find(from), from.size(), by);
  };
  for (const std::string& changed :
       {replaced("1/day", "2/day"), replaced("[user]", "[user, path]"), replaced("20%", "21%"),
        replaced("100%", "99%"), replaced("name: r", "name: s")}) {
    use(ruleset_with(kRule));
    ten_requests(9);
    tick();
    ASSERT_TRUE(rollouts.report().at(0).aborted);
    use(ruleset_with(changed));
    EXPECT_FALSE(rollouts.report().at(0).aborted) << changed;
    EXPECT_TRUE(has_metric("0")) << changed;
  }
}

TEST_F(RolloutsTest, OnlyRequestsThatTheRuleIsEnforcedForCount) {
  use(
      ruleset_with("{name: r, key: [user], limit: 1/day, algorithm: fixed_window, enforce: 50%, "
                   "abort: {denied_above: 20%, over: 10s, min_requests: 1}}"));
  std::uint64_t enforced = 0;
  for (int i = 0; i < 200; ++i) {
    if (!decide(std::to_string(i)).limits.at(0).shadow) ++enforced;
  }
  tick();
  EXPECT_GT(enforced, 50U);
  EXPECT_LT(enforced, 150U);
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, enforced);
}

TEST_F(RolloutsTest, ARequestCountsOnceForARuleWithSeveralLimits) {
  use(ruleset_with(
      "{name: r, key: [user], limits: {a: {limit: 1/day, algorithm: fixed_window}, b: 9/day}, "
      "abort: {denied_above: 90%, over: 10s, min_requests: 10}}"));
  ten_requests(4);
  tick();
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 10U);
  EXPECT_EQ(rollouts.report().at(0).recent.denied, 4U);
}

TEST_F(RolloutsTest, DenialsByOtherRulesBlocksAndFailuresAreNotOfTheRule) {
  use(ruleset_with(kRule + ", {name: other, limit: 1/day, algorithm: fixed_window}"));
  for (int i = 0; i < 20; ++i) decide("a" + std::to_string(i));
  tick();
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 20U);
  EXPECT_EQ(rollouts.report().at(0).recent.denied, 0U);
  use(ruleset_with(kRule));
  parts.store.block_now({"user=x", "api/r"});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(decide("x").allowed);
  parts.store.failure = Error{ErrorCode::Unavailable, "down"};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(decide("y").allowed);
  tick();
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 0U);
}

TEST_F(RolloutsTest, DenialsByAnOverrideAreNotOfTheRule) {
  use(ruleset_with(kRule));
  const auto override_with = [&](const std::string& limit) {
    bool made = false;
    service->set_override({.rule = "api/r",
                           .subject = "user=x",
                           .effect = store::Override::Effect::Limit,
                           .value = limit},
                          std::chrono::hours{1}, {}, [&](const auto& said) { made = !!said; });
    EXPECT_TRUE(made);
  };
  for (const char* limit : {"0/m", "1/h"}) {
    override_with(limit);
    for (int i = 0; i < 20; ++i) decide("x");
    EXPECT_FALSE(decide("x").allowed);
  }
  tick();
  EXPECT_FALSE(rollouts.report().at(0).aborted);
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 0U);
  decide("y");
  tick();
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 1U);
}

TEST_F(RolloutsTest, ExplainSaysThatTheRollOutIsAborted) {
  use(ruleset_with(kRule));
  ten_requests(9);
  tick();
  std::optional<Backend::Explained> explained;
  service->explain({.domain = "api", .descriptors = {{.entries = {{"user", "u1-0"}}}}}, {},
                   [&](Backend::Explained said) { explained = std::move(said); });
  EXPECT_TRUE(explained->answer.allowed);
  EXPECT_TRUE(explained->answer.limits.at(0).shadow);
  EXPECT_EQ(explained->explanation.rules.at(0).reason,
            "applies; enforced for this subject (enforce: 100%); the roll-out is aborted: shadow "
            "mode until the rule changes or a restart");
}

TEST_F(RolloutsTest, AnAbortedRuleDoesNotDenyRequestsWithoutItsKey) {
  use(ruleset_with(kRule.substr(0, kRule.size() - 1) + ", if_missing: deny}"));
  const auto reason_without_key = [&] {
    std::optional<Answer> answer;
    service->decide({.domain = "api", .descriptors = {{}}}, {},
                    [&](Answer said) { answer = std::move(said); });
    return answer->reason;
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(reason_without_key(), Reason::MissingAttribute);
  tick();
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 0U);
  ten_requests(9);
  tick();
  ASSERT_TRUE(rollouts.report().at(0).aborted);
  EXPECT_EQ(reason_without_key(), Reason::NoRule);
}

TEST_F(RolloutsTest, ReportsRollOutsWithoutAbortAndCountsNothingForThem) {
  const auto rules = ruleset_with(
      "{name: r, key: [user], limit: 1/day, enforce: 12.5%}, "
      "{name: usual, limit: 9/day}");
  use(rules);
  ASSERT_EQ(rollouts.report().size(), 1U);
  EXPECT_EQ(rollouts.report().at(0).enforce, 1'250U);
  EXPECT_FALSE(rollouts.report().at(0).abort);
  EXPECT_EQ(rollouts.find(*rules), nullptr);
  EXPECT_EQ(decide("a").limits.at(0).rollout, nullptr);
}

TEST_F(RolloutsTest, AWorkerWithOldRulesCountsForNobody) {
  const auto old = ruleset_with(kRule);
  use(old);
  const auto next = ruleset_with(kRule);
  rollouts.use(next, now);
  EXPECT_EQ(rollouts.find(*old), nullptr);
  EXPECT_NE(rollouts.find(*next), nullptr);
  ten_requests(9);  // by the worker, which keeps what it had
  tick();
  EXPECT_FALSE(rollouts.report().at(0).aborted);
}

// An answer may outlive the rules of its worker: its counter must live.
TEST_F(RolloutsTest, AnswersInFlightKeepTheirCounters) {
  use(ruleset_with(kRule));
  const Answer answer = decide("a");
  use(ruleset_with(kRule));
  use(ruleset_with(kRule));
  answer.limits.at(0).rollout->count(RolloutCounter::Outcome::Passed);
  EXPECT_EQ(answer.limits.at(0).rollout->totals().enforced, 2U);
}

TEST_F(RolloutsTest, CountsOverAllWorkers) {
  const auto rules = ruleset_with(kRule);
  use(rules);
  const std::shared_ptr<RolloutSet> set = rollouts.find(*rules);
  std::vector<std::thread> workers;
  for (std::size_t number = 0; number < 40; ++number) {
    workers.emplace_back([&set, &rules, number] {
      for (int i = 0; i < 1'000; ++i) {
        std::vector<LimitAnswer> limits{
            {.matched = {.rule = rules->rules().at(0).get(),
                         .check = {.name = {.subject = "s", .limit = "l"}, .quota = per_day(1)}}}};
        set->apply(limits, number);
        limits[0].rollout->count(RolloutCounter::Outcome::Passed);
      }
    });
  }
  for (std::thread& each : workers) each.join();
  tick();
  EXPECT_EQ(rollouts.report().at(0).recent.enforced, 40'000U);
}

}  // namespace
}  // namespace penstock::service
