// What happens to requests without an attribute of a rule's key, and to unknown domains.
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

std::shared_ptr<const Ruleset> ruleset(const std::string& text) {
  Loaded loaded = load_text(text, "p.yaml");
  for (const Diagnostic& each : loaded.diagnostics) {
    EXPECT_EQ(each.severity, Diagnostic::Severity::Warning) << to_string(each);
  }
  return loaded.configuration->rules;
}

std::shared_ptr<const Ruleset> of_domain(const std::string& domain) {
  return ruleset("domains: {api: {" + domain + "}}");
}

Request request_with(std::vector<Attribute> entries) {
  return {.domain = "api", .descriptors = {{.entries = std::move(entries)}}};
}

TEST(IfMissing, SkipIsTheDefault) {
  const auto rules = of_domain("rules: [{name: r, limit: 1/s, key: [api_key]}]");
  const Match match = rules->match(request_with({{"path", "/"}}));
  EXPECT_TRUE(match.limits.empty());
  EXPECT_EQ(match.missing_key_rule, nullptr);
  EXPECT_EQ(match.descriptors.front(), DescriptorOutcome::NoRule);
}

TEST(IfMissing, CountAsOneCountsAllSuchRequestsTogether) {
  const auto rules =
      of_domain("rules: [{name: r, limit: 1/s, key: [api_key, path], if_missing: count_as_one}]");
  const auto subject = [&](std::vector<Attribute> entries) {
    return rules->match(request_with(std::move(entries))).limits.at(0).check.name.subject;
  };
  EXPECT_EQ(subject({{"path", "/a"}}), "api_key=&path=/a");
  EXPECT_EQ(subject({}), "api_key=&path=");
  EXPECT_EQ(subject({{"path", "/a"}, {"api_key", ""}}), "api_key=&path=/a");
  EXPECT_EQ(subject({{"path", "/a"}, {"api_key", "k"}}), "api_key=k&path=/a");
}

TEST(IfMissing, CountAsOneOfAnAddress) {
  const auto rules =
      of_domain("if_missing: count_as_one, rules: [{name: r, limit: 1/s, key: [client_ip]}]");
  EXPECT_EQ(rules->match(request_with({})).limits.at(0).check.name.subject, "client_ip=");
}

TEST(IfMissing, DenyDeniesTheRequestAndChargesNothing) {
  const auto rules = of_domain(
      "rules: [{name: r, limit: 1/s, key: [api_key], if_missing: deny}, {name: all, limit: 9/s}]");
  const Match match = rules->match(request_with({}));
  ASSERT_NE(match.missing_key_rule, nullptr);
  EXPECT_EQ(match.missing_key_rule->name, "r");
  EXPECT_TRUE(match.limits.empty());
  EXPECT_EQ(match.descriptors.front(), DescriptorOutcome::Denied);
  EXPECT_EQ(rules->match(request_with({{"api_key", "k"}})).limits.size(), 2U);
}

TEST(IfMissing, DenyHoldsOnlyWhereTheConditionsDo) {
  const auto rules = of_domain(
      "rules: [{name: r, when: {path: /v1/**}, limit: 1/s, key: [api_key], if_missing: deny}]");
  EXPECT_NE(rules->match(request_with({{"path", "/v1/x"}})).missing_key_rule, nullptr);
  EXPECT_EQ(rules->match(request_with({{"path", "/login"}})).missing_key_rule, nullptr);
}

TEST(IfMissing, ListsWinAndShadowRulesNeverDeny) {
  const auto rules = of_domain(
      "deny: [{name: d, when: {path: /bad}}], allow: [{name: a, when: {path: /ok}}], "
      "rules: [{name: r, limit: 1/s, key: [api_key], if_missing: deny}]");
  for (const char* path : {"/bad", "/ok"}) {
    const Match match = rules->match(request_with({{"path", path}}));
    EXPECT_NE(match.list_entry, nullptr) << path;
    EXPECT_EQ(match.missing_key_rule, nullptr) << path;
  }
  const Match both =
      rules->match({.domain = "api", .descriptors = {{}, {.entries = {{"path", "/ok"}}}}});
  ASSERT_EQ(both.descriptors.size(), 2U);
  EXPECT_NE(both.descriptors[0], DescriptorOutcome::Denied);  // the request passes
  const auto shadow =
      of_domain("rules: [{name: r, limit: 1/s, key: [api_key], if_missing: deny, shadow: true}]");
  EXPECT_EQ(shadow->match(request_with({})).missing_key_rule, nullptr);
}

TEST(IfMissing, RulesThatAreInShadowModeNowDenyNothing) {
  const auto rules = of_domain(
      "rules: [{name: r, limit: 1/s, key: [api_key], if_missing: deny}, {name: all, limit: 9/s}]");
  Request request = request_with({});
  request.in_shadow = {rules->find("api", "all")};
  EXPECT_NE(rules->match(request).missing_key_rule, nullptr);
  request.in_shadow.push_back(rules->find("api", "r"));
  EXPECT_EQ(rules->match(request).missing_key_rule, nullptr);
  EXPECT_EQ(rules->match(request).limits.size(), 1U);
  EXPECT_EQ(rules->explain(request).rules.at(0).reason,
            "api_key is absent, which this rule counts by");
}

TEST(IfMissing, OneDescriptorOfSeveralIsEnoughAndRefundsAreSkipped) {
  const auto rules = of_domain("rules: [{name: r, limit: 1/s, key: [api_key], if_missing: deny}]");
  Request request{.domain = "api", .descriptors = {{.entries = {{"api_key", "k"}}}, {}}};
  EXPECT_NE(rules->match(request).missing_key_rule, nullptr);
  request.descriptors[1].is_refund = true;
  EXPECT_EQ(rules->match(request).missing_key_rule, nullptr);
}

TEST(IfMissing, IsExplained) {
  const auto reason = [](const std::string& choice) {
    const auto rules =
        of_domain("rules: [{name: r, limit: 1/s, key: [api_key], if_missing: " + choice + "}]");
    const RuleReport report = rules->explain(request_with({})).rules.at(0);
    return (report.matched ? "+ " : "- ") + report.reason;
  };
  EXPECT_EQ(reason("skip"), "- api_key is absent, which this rule counts by");
  EXPECT_EQ(reason("deny"), "+ denies the request: api_key is absent (if_missing: deny)");
  EXPECT_EQ(reason("count_as_one"),
            "+ applies; api_key is absent: one count for all requests without it (if_missing: "
            "count_as_one)");
}

TEST(IfMissing, OtherWordsAreErrors) {
  const Loaded loaded = load_text(
      "domains: {api: {rules: [{name: r, limit: 1/s, key: [user], if_missing: dney}]}}", "p.yaml");
  EXPECT_FALSE(loaded.configuration.has_value());
  EXPECT_NE(to_string(loaded.diagnostics.at(0)).find("did you mean 'deny'?"), std::string::npos);
}

TEST(UnknownDomain, IsAllowedUnlessTheConfigurationDeniesIt) {
  const std::string rules = "domains: {api: {rules: [{name: r, limit: 1/s}]}}\n";
  const Request request{.domain = "apj", .descriptors = {{}}};
  const Match allowed = ruleset(rules)->match(request);
  EXPECT_FALSE(allowed.domain_known);
  EXPECT_FALSE(allowed.unknown_domain_denied);
  EXPECT_EQ(allowed.descriptors.front(), DescriptorOutcome::NoRule);
  const Match denied = ruleset(rules + "unknown_domain: deny\n")->match(request);
  EXPECT_TRUE(denied.unknown_domain_denied);
  EXPECT_EQ(denied.descriptors.front(), DescriptorOutcome::Denied);
  EXPECT_FALSE(ruleset(rules + "unknown_domain: deny\n")
                   ->match({.domain = "api", .descriptors = {{}}})
                   .unknown_domain_denied);
}

}  // namespace
}  // namespace penstock::rules
