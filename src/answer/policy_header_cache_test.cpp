#include "answer/rate_headers.hpp"
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

namespace penstock::answer {
namespace {

std::shared_ptr<const rules::Ruleset> load(std::string_view text) {
  const rules::Loaded loaded = rules::load_text(text, "test.yaml");
  for (const auto& diagnostic : loaded.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return loaded.configuration.value().rules;
}

std::vector<rules::MatchedLimit> limits_of(const rules::Ruleset& rules) {
  return rules.match({.domain = "api", .descriptors = {rules::Descriptor{}}}).limits;
}

constexpr std::string_view kThreeLimits =
    "domains: {api: {rules: [{name: search, limits: {short: 600/m burst 100, long: 5000/day}},"
    " {name: all, limit: 9/s}]}}";

TEST(PolicyHeaderCache, ContainNamesAndQuotasOfTheRules) {
  const auto rules = load(kThreeLimits);
  PolicyHeaderCache texts;
  texts.use(rules);
  std::vector<std::string> policies;
  for (int times = 0; times < 2; ++times) {
    for (const rules::MatchedLimit& matched : limits_of(*rules)) {
      const PolicyHeader* const text = texts.find(matched);
      ASSERT_NE(text, nullptr);
      EXPECT_TRUE(text->policy.starts_with(text->name + ";"));
      policies.push_back(text->policy);
    }
  }
  const std::vector<std::string> expected{R"("search/short";q=600;w=60;penstock-burst=100)",
                                          R"("search/long";q=5000;w=86400)", R"("all";q=9;w=1)"};
  ASSERT_EQ(policies.size(), 6U);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), policies.begin()));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), policies.begin() + 3));
}

TEST(PolicyHeaderCache, AreDroppedWhenTheRulesChange) {
  PolicyHeaderCache texts;
  const auto before = load(kThreeLimits);
  texts.use(before);
  EXPECT_NE(texts.find(limits_of(*before)[0]), nullptr);
  const auto after = load("domains: {api: {rules: [{name: search, limit: 7/s}]}}");
  texts.use(after);
  EXPECT_EQ(texts.find(limits_of(*after)[0])->policy, R"("search";q=7;w=1)");
}

TEST(PolicyHeaderCache, AreNotCachedForOverridesAndRequestLimits) {
  const auto rules = load(kThreeLimits);
  PolicyHeaderCache texts;
  rules::MatchedLimit matched = limits_of(*rules)[0];
  EXPECT_EQ(texts.find(matched), nullptr);  // without rules
  texts.use(rules);
  EXPECT_NE(texts.find(matched), nullptr);
  matched.check.quota = per_minute(601);  // an override
  EXPECT_EQ(texts.find(matched), nullptr);
  matched.rule = nullptr;  // it travelled with the request
  EXPECT_EQ(texts.find(matched), nullptr);
}

}  // namespace
}  // namespace penstock::answer
