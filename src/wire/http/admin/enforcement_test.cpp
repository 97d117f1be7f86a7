#include "wire/http/admin/enforcement.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

EnforcementInput healthy() { return {.open = {"api/search"}, .closed = 1, .local = 2}; }

TEST(EnforcementState, IsEnforcingWhileTheStoreServes) {
  const EnforcementReport report = assess(healthy());
  EXPECT_EQ(report.state, Enforcement::Enforcing);
  EXPECT_TRUE(report.reasons.empty());
}

TEST(EnforcementState, RulesThatFailOpenAreNotEnforcedDuringAnOutage) {
  EnforcementInput input = healthy();
  input.workers_without_store = 1;
  input.store_error = "connection refused";
  input.store_down_since = Instant{std::chrono::seconds{50'592}};
  const EnforcementReport report = assess(input);
  EXPECT_EQ(report.state, Enforcement::NotEnforcing);
  EXPECT_EQ(report.reasons,
            std::vector<std::string>{"Redis unreachable since 14:03:12: connection refused; 1 rule "
                                     "fails open (api/search), 1 closed, 2 local"});
}

TEST(EnforcementState, IsDegradedWhenNoRuleFailsOpen) {
  EnforcementInput input{.store_error = "x", .workers = 2, .workers_without_store = 2, .local = 3};
  EXPECT_EQ(assess(input).state, Enforcement::Degraded);
  input.open = {"a"};
  input.workers_without_store = 1;
  EXPECT_EQ(assess(input).state, Enforcement::Degraded) << "the other worker has the store";
  EXPECT_TRUE(assess(input).reasons.front().starts_with("1 of 2 workers cannot reach Redis"));
}

TEST(EnforcementState, AFailedReloadAndAnAbortedRollOutDegrade) {
  EnforcementInput input = healthy();
  input.reload_error = "rules.yaml:3:1: error";
  input.aborted_rollouts = {"api/search"};
  const EnforcementReport report = assess(input);
  EXPECT_EQ(report.state, Enforcement::Degraded);
  EXPECT_EQ(report.reasons.size(), 2U);
}

TEST(EnforcementState, NothingIsEnforcedWithoutRulesOrWithShadowRulesOnly) {
  EXPECT_EQ(assess({}).reasons, std::vector<std::string>{"no rule is loaded"});
  EXPECT_EQ(assess({}).state, Enforcement::NotEnforcing);
  EXPECT_EQ(assess({.shadow = 2}).reasons,
            std::vector<std::string>{"every rule is in shadow mode"});
}

TEST(EnforcementState, TheWorstReasonComesFirst) {
  EnforcementReport report;
  report.add(Enforcement::Degraded, "a");
  report.add(Enforcement::NotEnforcing, "b");
  report.add(Enforcement::Degraded, "c");
  EXPECT_EQ(report.reasons, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(report.state, Enforcement::NotEnforcing);
  for (const auto state :
       {Enforcement::Enforcing, Enforcement::Degraded, Enforcement::NotEnforcing}) {
    EXPECT_EQ(parse_enforcement(to_string(state)), state);
  }
}

}  // namespace
}  // namespace penstock::http
