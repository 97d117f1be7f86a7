// The gradual roll-out of a rule: which subjects it is enforced for.
#include "rules/model/rollout.hpp"

#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::rules {
namespace {

std::shared_ptr<const Ruleset> rules_with(const std::string& rule) {
  const Loaded loaded = load_text("domains: {api: {rules: [{" + rule + "}]}}", "p.yaml");
  for (const Diagnostic& each : loaded.diagnostics) {
    EXPECT_EQ(each.severity, Diagnostic::Severity::Warning) << to_string(each);
  }
  return loaded.configuration->rules;
}

Match match_of(const Ruleset& rules, std::vector<Attribute> entries) {
  return rules.match({.domain = "api", .descriptors = {{.entries = std::move(entries)}}});
}

bool is_enforced(const Ruleset& rules, const std::string& user) {
  const Match match = match_of(rules, {{"user", user}});
  return !match.limits.at(0).shadow;
}

constexpr int kSubjects = 100'000;

// Six standard deviations of a binomial share: it fails for one hash in a billion.
bool is_plausible(int enforced, BasisPoints share) {
  const double p = static_cast<double>(share) / kWhole;
  const double difference = enforced - kSubjects * p;
  return difference * difference <= 36 * kSubjects * p * (1 - p);
}

TEST(Percent, IsReadAndWrittenWithUpToTwoDecimals) {
  EXPECT_EQ(parse_percent("10%"), 1'000U);
  EXPECT_EQ(parse_percent("0.5%"), 50U);
  EXPECT_EQ(parse_percent("12.25%"), 1'225U);
  EXPECT_EQ(parse_percent("0.05%"), 5U);
  EXPECT_EQ(parse_percent("100%"), kWhole);
  for (const char* text : {"", "%", "10", "-1%", "+1%", "100.01%", "101%", "1.234%", "1.%", ".5%",
                           "1e1%", "10 %", "4294967297%", "1.-1%"}) {
    EXPECT_FALSE(parse_percent(text)) << text;
  }
  for (BasisPoints share = 0; share <= kWhole; ++share) {
    EXPECT_EQ(parse_percent(percent_text(share)), share);
  }
  EXPECT_EQ(percent_text(1'000), "10%");
  EXPECT_EQ(percent_text(1'250), "12.5%");
  EXPECT_EQ(percent_text(5), "0.05%");
}

// The values of the Python function in docs/reference/configuration.md: other versions and nodes
// must agree on them.
TEST(RolloutPlace, IsTheDocumentedHash) {
  EXPECT_EQ(rollout_place("api", "search", "user=42"), 2098U);
  EXPECT_EQ(rollout_place("api", "search", "user=43"), 5346U);
  EXPECT_EQ(rollout_place("api", "login", "user=42"), 9710U);
  EXPECT_EQ(rollout_place("api", "search", ""), 1926U);
}

TEST(RolloutPlace, ThePlacesAreEvenlyDistributed) {
  for (const std::string rule : {"search", "login", "per-user"}) {
    for (const BasisPoints share : {1U, 25U, 100U, 1'000U, 3'333U, 5'000U, 9'900U}) {
      int enforced = 0;
      for (int i = 0; i < kSubjects; ++i) {
        if (rollout_place("api", rule, "user=" + std::to_string(i)) < share) ++enforced;
      }
      EXPECT_TRUE(is_plausible(enforced, share)) << rule << " " << share << ": " << enforced;
    }
  }
}

// Otherwise the same clients would be hit first by every roll-out.
TEST(RolloutPlace, RulesChooseIndependently) {
  int both = 0;
  for (int i = 0; i < kSubjects; ++i) {
    const std::string subject = "user=" + std::to_string(i);
    if (rollout_place("api", "a", subject) < 3'000 && rollout_place("api", "b", subject) < 3'000) {
      ++both;
    }
  }
  EXPECT_TRUE(is_plausible(both, 900)) << both;
}

TEST(Rollout, EnforcesTheRuleForItsShareOfSubjectsAndStaysWithThem) {
  const auto rules = rules_with("name: r, limit: 1/s, key: [user], enforce: 12.5%");
  int enforced = 0;
  for (int i = 0; i < kSubjects; ++i) {
    if (is_enforced(*rules, std::to_string(i))) ++enforced;
  }
  EXPECT_TRUE(is_plausible(enforced, 1'250)) << enforced;
  const auto reloaded = rules_with("name: r, limit: 9/m, key: [user], enforce: 12.5%");
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_EQ(is_enforced(*rules, std::to_string(i)), is_enforced(*reloaded, std::to_string(i)));
  }
}

TEST(Rollout, ALargerShareIncludesEverySubjectOfASmallerOne) {
  std::vector<std::shared_ptr<const Ruleset>> steps;
  for (const char* share : {"0%", "0.01%", "1%", "10%", "20%", "75.5%", "100%"}) {
    steps.push_back(rules_with("name: r, limit: 1/s, key: [user], enforce: " + std::string(share)));
  }
  for (int i = 0; i < 5'000; ++i) {
    const std::string user = std::to_string(i);
    EXPECT_FALSE(is_enforced(*steps.front(), user));
    EXPECT_TRUE(is_enforced(*steps.back(), user));
    for (std::size_t step = 1; step < steps.size(); ++step) {
      EXPECT_LE(is_enforced(*steps[step - 1], user), is_enforced(*steps[step], user)) << user;
    }
  }
}

TEST(Rollout, AllLimitsOfARuleAgree) {
  const auto rules = rules_with("name: r, limits: {a: 1/s, b: 9/h}, key: [user], enforce: 50%");
  for (int i = 0; i < 100; ++i) {
    const std::string user = std::to_string(i);
    const Match match = match_of(*rules, {{"user", user}});
    EXPECT_EQ(match.limits.at(0).shadow, match.limits.at(1).shadow);
  }
}

TEST(Rollout, ARuleWithoutKeyIsInShadowModeBelowAll) {
  const auto shadow_of = [](const std::string& share) {
    const auto rules = rules_with("name: r, limit: 1/s, enforce: " + share);
    return match_of(*rules, {}).limits.at(0).shadow;
  };
  EXPECT_TRUE(shadow_of("0.01%"));
  EXPECT_TRUE(shadow_of("99.99%"));
  EXPECT_FALSE(shadow_of("100%"));
}

TEST(Rollout, RequestsWithoutTheKeyAreDeniedOnceItIsEnforcedForAll) {
  const std::string rule = "name: r, limit: 1/s, key: [user], if_missing: deny";
  for (const char* option : {"enforce: 0%", "enforce: 99.99%, abort: {denied_above: 5%}"}) {
    const auto rules = rules_with(rule + ", " + option);
    EXPECT_EQ(match_of(*rules, {}).missing_key_rule, nullptr) << option;
    EXPECT_EQ(match_of(*rules, {}).descriptors.front(), DescriptorOutcome::NoRule);
  }
  for (const char* option : {"mode: exact", "enforce: 100%", "abort: {denied_above: 5%}",
                             "enforce: 100%, abort: {denied_above: 5%}"}) {
    EXPECT_NE(match_of(*rules_with(rule + ", " + option), {}).missing_key_rule, nullptr) << option;
  }
}

TEST(Rollout, AllMissingKeysThatCountAsOneAreOneSubject) {
  const auto rules =
      rules_with("name: r, limit: 1/s, key: [user], if_missing: count_as_one, enforce: 50%");
  EXPECT_EQ(match_of(*rules, {}).limits.at(0).shadow, !is_enforced(*rules, ""));
}

TEST(Rollout, ExplainSaysWhetherTheSubjectIsIncluded) {
  const auto rules = rules_with("name: r, limit: 1/s, key: [user], enforce: 50%");
  bool enforced = false;
  bool shadow = false;
  for (int i = 0; i < 20; ++i) {
    const std::string user = std::to_string(i);
    const Explanation explanation =
        rules->explain({.domain = "api", .descriptors = {{.entries = {{"user", user}}}}});
    const bool is_shadow = explanation.match.limits.at(0).shadow;
    EXPECT_EQ(explanation.rules.at(0).reason,
              is_shadow ? "applies; shadow mode for this subject (enforce: 50%)"
                        : "applies; enforced for this subject (enforce: 50%)");
    (is_shadow ? shadow : enforced) = true;
  }
  EXPECT_TRUE(enforced && shadow);
}

TEST(Rollout, IsReadFromTheConfiguration) {
  const auto only = [](const std::string& options) {
    const auto rules = rules_with("name: r, limit: 1/s, key: [user], " + options);
    return *rules->rules().at(0);
  };
  const Rule full = only(
      "enforce: 0.5%, abort: {denied_above: 2.5%, over: 5m, min_requests: 20}, near_limit: 80%");
  ASSERT_TRUE(full.rollout && full.rollout->abort);
  EXPECT_EQ(full.rollout->enforce, 50U);
  EXPECT_EQ(full.rollout->abort->denied_above, 250U);
  EXPECT_EQ(full.rollout->abort->over, std::chrono::minutes{5});
  EXPECT_EQ(full.rollout->abort->min_requests, 20U);
  EXPECT_EQ(full.near_limit, 8'000U);
  const Rule usual = only("enforce: 100%, abort: {denied_above: 5%}");
  ASSERT_TRUE(usual.rollout && usual.rollout->abort);
  EXPECT_EQ(usual.rollout->abort->over, std::chrono::minutes{1});
  EXPECT_EQ(usual.rollout->abort->min_requests, 100U);
  EXPECT_FALSE(only("enforce: 100%").rollout);  // complete
  EXPECT_FALSE(only("enforce: 10%, shadow: true").rollout);
  EXPECT_EQ(only("mode: exact").near_limit, 0U);
}

std::string diagnostics(const std::string& options) {
  std::string all;
  const std::string text = "domains: {api: {rules: [{name: r, limit: 1/s, " + options + "}]}}";
  for (const Diagnostic& each : load_text(text, "p.yaml").diagnostics) {
    all += to_string(each) + "\n";
  }
  return all;
}

TEST(Rollout, InvalidOptionsAreReportedWithTheirPlace) {
  EXPECT_EQ(diagnostics("enforce: 10, key: [user]"),
            "p.yaml:1:56: error: enforce: expected a percentage from 0% to 100%, such as 10% or "
            "0.25%, found \"10\"\n");
  EXPECT_EQ(diagnostics("near_limit: 120%"),
            "p.yaml:1:59: error: near_limit: expected a percentage from 0.01% to 100%, such as 10% "
            "or 0.25%, found \"120%\"\n");
  EXPECT_EQ(diagnostics("near_limit: 0%"),
            "p.yaml:1:59: error: near_limit: expected a percentage from 0.01% to 100%, such as 10% "
            "or 0.25%, found \"0%\"\n");
  EXPECT_EQ(diagnostics("enforce: 100%, abort: {denied_above: 100%, over: 1s, min_requests: 0}"),
            "p.yaml:1:84: error: denied_above: expected a percentage from 0.01% to 99.99%, such as "
            "10% or 0.25%, found \"100%\"\n"
            "p.yaml:1:96: error: over: expected a time such as 250ms, 10s, 5m, 2h or 1d, from 10s "
            "to 1h, found \"1s\"\n"
            "p.yaml:1:114: error: min_requests: expected a whole number from 1 to 1000000000, "
            "found \"0\"\n");
  EXPECT_EQ(diagnostics("enforce: 100%, abort: 5%"),
            "p.yaml:1:69: error: abort: expected a map such as {denied_above: 5%, over: 1m}, found "
            "\"5%\"\n");
}

TEST(Rollout, OptionsThatContradictEachOtherAreWarnings) {
  EXPECT_EQ(diagnostics("enforce: 10%, shadow: true"),
            "p.yaml:1:56: warning: enforce: 10% has no effect with shadow: true, which enforces "
            "the rule for no one\n");
  EXPECT_EQ(diagnostics("enforce: 10%"),
            "p.yaml:1:56: warning: enforce: 10% of a rule without a key: all requests are one "
            "subject, so the rule stays in shadow mode below 100%; add a key\n");
  EXPECT_EQ(diagnostics("enforce: 10%, key: [user], if_missing: deny"),
            "p.yaml:1:56: warning: enforce: 10% with if_missing: deny: requests without the key "
            "are not denied until enforce is 100%\n");
  EXPECT_EQ(diagnostics("enforce: 100%, key: [user], if_missing: deny, abort: {denied_above: 5%}"),
            "");
  EXPECT_EQ(diagnostics("abort: {denied_above: 5%}"),
            "p.yaml:1:54: warning: abort without enforce: the rule is enforced for all subjects at "
            "once; begin with enforce: 1%\n");
  EXPECT_EQ(diagnostics("enforce: 100%"), "");
  EXPECT_EQ(diagnostics("enforce: 10%, key: [user], abort: {denied_above: 5%, over: 1m}"), "");
}

TEST(Rollout, MeansNothingForARuleWithoutALimit) {
  const Loaded loaded =
      load_text("domains: {api: {rules: [{name: r, unlimited: true, near_limit: 80%}]}}", "p.yaml");
  ASSERT_EQ(loaded.diagnostics.size(), 1U);
  EXPECT_EQ(loaded.diagnostics.front().message,
            "near_limit means nothing for a rule without a limit");
}

}  // namespace
}  // namespace penstock::rules
