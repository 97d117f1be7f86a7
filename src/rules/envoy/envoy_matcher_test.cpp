// The matcher of a loaded file.
#include "rules/envoy/envoy_matcher.hpp"

#include "reference/any_envoy.hpp"
#include "rules/envoy/envoy_format.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Ruleset> load(std::string_view text) {
  Diagnostics diagnostics;
  const auto document = YamlDocument::parse(text, "limits.yaml", diagnostics);
  RulesetBuilder builder;
  if (document != nullptr) load_envoy(YamlNode(*document), builder);
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Diagnostic::Severity::Error) continue;
    ADD_FAILURE() << to_string(diagnostic) << " in\n" << text;
    return nullptr;
  }
  return builder.build();
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

void print_rate_limit(std::string& text, const std::string& margin, const naive::Written& written) {
  text += margin + "rate_limit:\n";
  if (written.action == Action::Unlimited) {
    text += margin + "  unlimited: true\n";
  } else {
    text += margin + "  unit: minute\n" + margin +
            "  requests_per_unit: " + std::to_string(written.requests_per_minute) + "\n";
  }
  if (!written.given_name.empty()) text += margin + "  name: " + written.given_name + "\n";
  if (!written.replaces.empty()) text += margin + "  replaces:\n";
  for (const std::string& name : written.replaces) text += margin + "  - name: " + name + "\n";
}

void print_level(std::string& text, const std::string& margin,
                 const std::vector<naive::Written>& level) {
  if (level.empty()) return;
  text += margin + "descriptors:\n";
  for (const naive::Written& written : level) {
    const std::string inner = margin + "  ";
    const EnvoyNode::Traits& traits = written.traits;
    text += margin + "- key: " + quoted(traits.key) + "\n";
    if (!traits.value.empty()) text += inner + "value: " + quoted(traits.value) + "\n";
    if (traits.share_threshold) text += inner + "share_threshold: true\n";
    if (traits.value_to_metric) text += inner + "value_to_metric: yes\n";
    if (traits.detailed_metric) text += inner + "detailed_metric: on\n";
    if (written.shadow) text += inner + "shadow_mode: True\n";
    if (written.quota_mode) text += inner + "quota_mode: true\n";
    if (written.action) print_rate_limit(text, inner, written);
    print_level(text, inner, written.children);
  }
}

RC_GTEST_PROP(EnvoyMatcher, SaysOfAWrittenTreeWhatTheNaiveTranscriptionSays, ()) {
  const std::vector<naive::Written> written = naive::any_level(3);
  std::string text = "domain: dom\n";
  print_level(text, "", written);
  const auto rules = load(text);
  RC_ASSERT(rules != nullptr);
  for (int repetition = 0; repetition < 20; ++repetition) {
    naive::AnyRequest any;
    any.fill();
    const std::vector<naive::Answer> expected = naive::answers(written, any.request);
    const Match match = rules->match(any.request);
    std::set<std::string> expected_subjects;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      RC_ASSERT(match.descriptors[i] == expected[i].said);
      if (expected[i].said == DescriptorOutcome::Limited)
        expected_subjects.insert(expected[i].subject);
    }
    RC_ASSERT(match.list_entry == nullptr);
    std::set<std::string> subjects;
    for (const MatchedLimit& matched : match.limits) {
      const naive::Answer& answer = expected[matched.descriptor];
      subjects.insert(matched.check.name.subject);
      RC_ASSERT(answer.said == DescriptorOutcome::Limited);
      RC_ASSERT(matched.check.name.subject == answer.subject);
      RC_ASSERT(matched.check.quota.limit() == answer.limit);
      RC_ASSERT((matched.metric.empty() ? matched.rule->metric : matched.metric) == answer.metric);
    }
    RC_ASSERT(subjects == expected_subjects);
    const Explanation explanation = rules->explain(any.request);
    for (const MatchedLimit& matched : match.limits) {
      RC_ASSERT(std::ranges::any_of(explanation.rules, [&](const RuleReport& report) {
        return report.rule == matched.rule && report.matched;
      }));
    }
  }
}

Request asking(std::vector<Descriptor> descriptors, Cost cost = Cost{1}) {
  return {.domain = "shop", .descriptors = std::move(descriptors), .cost = cost};
}

TEST(EnvoyMatcher, CountsOfKeysAndValuesThatJoinAlikeAreNotShared) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - key: a_b
    rate_limit: {unit: minute, requests_per_unit: 1}
  - key: a
    rate_limit: {unit: minute, requests_per_unit: 1}
)");
  const Match first = rules->match(asking({{.entries = {{"a_b", "c"}}}}));
  const Match second = rules->match(asking({{.entries = {{"a", "b_c"}}}}));
  ASSERT_EQ(first.limits.size(), 1U);
  ASSERT_EQ(second.limits.size(), 1U);
  EXPECT_EQ(first.limits[0].check.name, (core::LimitKey{"a_b=c", "shop/a_b"}));
  EXPECT_EQ(second.limits[0].check.name, (core::LimitKey{"a=b_c", "shop/a"}));
}

TEST(EnvoyMatcher, ValuesOfASharedThresholdHaveOneCount) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - key: path
    value: /img/*
    share_threshold: true
    rate_limit: {unit: minute, requests_per_unit: 9}
    descriptors:
      - key: user
        rate_limit: {unit: minute, requests_per_unit: 3}
)");
  const auto subject = [&](std::vector<Attribute> entries) {
    return rules->match(asking({{.entries = std::move(entries)}})).limits.at(0).check.name.subject;
  };
  EXPECT_EQ(subject({{"path", "/img/a.png"}}), "path=/img/*");
  EXPECT_EQ(subject({{"path", "/img/b.png"}, {"user", "eve"}}), "path=/img/*&user=eve");
  EXPECT_NE(subject({{"path", "/img/b.png"}, {"user", "eve"}}),
            subject({{"path", "/img/b.png"}, {"user", "bob"}}));
}

TEST(EnvoyMatcher, LimitOfTheRequestReplacesTheRule) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - key: user
    shadow_mode: true
    rate_limit: {unit: minute, requests_per_unit: 9, name: users}
  - key: plan
    rate_limit: {unlimited: true, replaces: [{name: users}]}
)");
  const Match match = rules->match(asking({
      {.entries = {{"user", "eve"}}, .limit = Quota(per_hour(5).fixed_window())},
      {.entries = {{"never", "seen"}, {"empty", ""}}, .limit = Quota(per_second(2))},
      {.entries = {{"plan", "gold"}}},
  }));
  EXPECT_EQ(match.descriptors, (std::vector{DescriptorOutcome::Limited, DescriptorOutcome::Limited,
                                            DescriptorOutcome::Unlimited}));
  ASSERT_EQ(match.limits.size(), 2U);
  EXPECT_EQ(match.limits[0].rule, nullptr);
  EXPECT_EQ(match.limits[0].check.quota, Quota(per_hour(5).fixed_window()));
  EXPECT_EQ(match.limits[0].metric, "shop.user_eve");
  EXPECT_EQ(match.limits[1].descriptor, 1U);
  EXPECT_EQ(match.limits[1].metric, "shop.never_seen.empty");
  EXPECT_EQ(match.limits[1].check.name.subject, "never=seen&empty=");
}

TEST(EnvoyMatcher, LimitOfARequestNeedsAKnownDomain) {
  const auto rules = load("domain: other");
  const Match match =
      rules->match(asking({{.entries = {{"user", "eve"}}, .limit = Quota(per_hour(5))}}));
  EXPECT_FALSE(match.domain_known);
  EXPECT_TRUE(match.limits.empty());
  EXPECT_EQ(match.descriptors, std::vector{DescriptorOutcome::NoRule});
}

TEST(EnvoyMatcher, DescriptorsCostWhatTheySayElseWhatTheRequestSays) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - {key: bytes, rate_limit: {unit: hour, requests_per_unit: 1000}}
  - {key: calls, rate_limit: {unit: hour, requests_per_unit: 10}}
)");
  const Match match =
      rules->match(asking({{.entries = {{"bytes", "eve"}}, .cost = Cost{700}},
                           {.entries = {{"calls", "eve"}}},
                           {.entries = {{"calls", "bob"}}, .cost = Cost{0}},
                           {.entries = {{"bytes", "bob"}}, .cost = Cost{5}, .is_refund = true}},
                          Cost{3}));
  ASSERT_EQ(match.limits.size(), 4U);
  EXPECT_EQ(match.limits[0].check.cost, Cost{700});
  EXPECT_EQ(match.limits[1].check.cost, Cost{3});
  EXPECT_EQ(match.limits[2].check.cost, Cost{0});
  EXPECT_FALSE(match.limits[2].is_refund);
  EXPECT_TRUE(match.limits[3].is_refund);
}

TEST(EnvoyMatcher, NoRequestsAtAllIsALimitLikeAnyOther) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - {key: banned, rate_limit: {unit: day, requests_per_unit: 0, name: ban}}
  - {key: user, rate_limit: {unit: day, requests_per_unit: 7}}
  - {key: exempt, rate_limit: {unlimited: true, replaces: [{name: ban}]}}
)");
  const Descriptor banned{.entries = {{"banned", "x"}}};
  const Match match = rules->match(asking({{.entries = {{"user", "eve"}}}, banned}));
  EXPECT_EQ(match.list_entry, nullptr);
  EXPECT_EQ(match.descriptors,
            (std::vector{DescriptorOutcome::Limited, DescriptorOutcome::Limited}));
  ASSERT_EQ(match.limits.size(), 2U);
  EXPECT_EQ(match.limits[1].check.quota, Quota::none(Days{1}));
  EXPECT_EQ(match.limits[1].check.name, (core::LimitKey{"banned=x", "shop/banned"}));
  const Match replaced = rules->match(asking({banned, {.entries = {{"exempt", "x"}}}}));
  EXPECT_TRUE(replaced.limits.empty());
}

TEST(EnvoyMatcher, AWildcardInAKeySharesTheValuesOfEachKey) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - key: user*
    share_threshold: true
    rate_limit: {unit: minute, requests_per_unit: 9}
  - key: team_*
    share_threshold: true
    rate_limit: {unit: minute, requests_per_unit: 9}
)");
  const auto subject = [&](std::string_view key, std::string_view value) {
    return rules->match(asking({{.entries = {{key, value}}}})).limits.at(0).check.name.subject;
  };
  EXPECT_EQ(subject("user_id", "7"), "user_id=user*");
  EXPECT_EQ(subject("user_id", "8"), "user_id=user*");
  EXPECT_EQ(subject("username", "eve"), "username=user*");
  EXPECT_EQ(subject("team", "red"), "team=*");
  EXPECT_EQ(subject("team_a", "red"), "team_a=team_*");
}

struct Replacing : ::testing::Test {
  std::shared_ptr<const Ruleset> rules = load(R"(
domain: shop
descriptors:
  - {key: user, rate_limit: {name: users, unit: day, requests_per_unit: 7}}
  - {key: plan, value: gold,
     rate_limit: {name: plans, unit: day, requests_per_unit: 99, replaces: [{name: users}]}}
  - {key: tester, rate_limit: {name: testers, unlimited: true, replaces: [{name: plans}]}}
  - {key: robot, rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: testers}]}}
)");
  std::vector<DescriptorOutcome> said(std::vector<Descriptor> descriptors) const {
    return rules->match(asking(std::move(descriptors))).descriptors;
  }
  Descriptor user{.entries = {{"user", "eve"}}};
  Descriptor gold{.entries = {{"plan", "gold"}}};
  Descriptor tester{.entries = {{"tester", "eve"}}};
  Descriptor robot{.entries = {{"robot", "r2"}}};
};

TEST_F(Replacing, LeavesOutLimitsOfThatNameInAnyOrder) {
  EXPECT_EQ(said({user}), std::vector{DescriptorOutcome::Limited});
  EXPECT_EQ(said({user, gold}),
            (std::vector{DescriptorOutcome::Replaced, DescriptorOutcome::Limited}));
  EXPECT_EQ(said({gold, user}),
            (std::vector{DescriptorOutcome::Limited, DescriptorOutcome::Replaced}));
  EXPECT_EQ(rules->match(asking({user, gold})).limits.size(), 1U);
}

TEST_F(Replacing, WorksFromUnlimitedAndFromReplacedLimits) {
  EXPECT_EQ(said({user, gold, tester}),
            (std::vector{DescriptorOutcome::Replaced, DescriptorOutcome::Replaced,
                         DescriptorOutcome::Unlimited}));
}

TEST_F(Replacing, DoesNotTakeAwayWhatIsUnlimited) {
  EXPECT_EQ(said({tester, robot}),
            (std::vector{DescriptorOutcome::Unlimited, DescriptorOutcome::Limited}));
}

TEST_F(Replacing, IsSaidInTheExplanation) {
  const Explanation explanation = rules->explain(asking({user, gold}));
  ASSERT_EQ(explanation.rules.size(), 4U);
  EXPECT_FALSE(explanation.rules[0].matched);
  EXPECT_EQ(explanation.rules[0].reason, "descriptor 1: another limit of this request replaces it");
  EXPECT_TRUE(explanation.rules[1].matched);
  EXPECT_EQ(explanation.rules[1].reason, "descriptor 2: \"plan=gold\" found by its value");
}

TEST(EnvoyMatcher, ExplainsHowFarADescriptorComes) {
  const auto rules = load(R"(
domain: shop
descriptors:
  - key: country
    value: de
    rate_limit: {unit: day, requests_per_unit: 1}
    descriptors:
      - {key: user, rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: country, rate_limit: {unit: day, requests_per_unit: 3}}
)");
  const auto reasons = [&](std::vector<Attribute> entries) {
    std::vector<std::string> texts;
    for (const RuleReport& report :
         rules->explain(asking({{.entries = std::move(entries)}})).rules) {
      texts.push_back((report.matched ? "yes: " : "no: ") + report.reason);
    }
    return texts;
  };
  EXPECT_EQ(reasons({{"country", "de"}}),
            (std::vector<std::string>{"yes: \"country=de\" found by its value",
                                      "no: it has 1 entry, the rule needs 2",
                                      "no: \"country=de\" is taken by country_de"}));
  EXPECT_EQ(reasons({{"country", "fr"}}),
            (std::vector<std::string>{"no: \"country=fr\" is taken by country",
                                      "no: \"country=fr\" is taken by country",
                                      "yes: \"country=fr\" found by its key"}));
  EXPECT_EQ(reasons({{"country", "de"}, {"agent", "x"}}),
            (std::vector<std::string>{"no: it has 2 entries, the rule is for 1",
                                      "no: \"agent=x\" is not user",
                                      "no: \"country=de\" is taken by country_de"}));
}

TEST(EnvoyMatcher, ExplainsAThousandRulesAndThoseThatMatch) {
  std::string text = "domain: shop\ndescriptors:\n";
  for (int i = 0; i < 2000; ++i) {
    text += "- {key: k, value: v" + std::to_string(i) +
            "x, rate_limit: {unit: day, requests_per_unit: 5}}\n";
  }
  const Explanation explanation = load(text)->explain(asking({{.entries = {{"k", "v1999x"}}}}));
  EXPECT_TRUE(explanation.cut_short);
  EXPECT_EQ(explanation.rules.size(), kMaxReports + 1);
  EXPECT_TRUE(explanation.rules.back().matched);
}

}  // namespace
}  // namespace penstock::rules
