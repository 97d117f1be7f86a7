// A value of a map that no rule matches is a warning, with its line and what was meant.
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::rules {
namespace {

std::string text_of(const Loaded& loaded) {
  std::string all;
  for (const Diagnostic& each : loaded.diagnostics) all += to_string(each) + "\n";
  EXPECT_TRUE(loaded.configuration.has_value()) << all;
  return all;
}

constexpr const char* kTiers =
    "domains: {api: {attributes: {tier: {map: tiers, by: user_id, default: unknown}}, rules: [";
constexpr const char* kAll = "{name: all, limit: 9/s}, ";
constexpr const char* kPro = "{name: pro, limit: 2/s, key: user_id, when: {tier: [pro, team]}}";

// Of a domain with the attribute tier.
std::string warnings(const std::string& values, const std::string& rules) {
  return text_of(load_text(
      "maps: {tiers: {values: {" + values + "}}}\n" + kTiers + kAll + rules + "]}}\n", "p.yaml"));
}

TEST(MapValueWarnings, AMistypedValueIsReportedWithItsPosition) {
  EXPECT_EQ(warnings("a: pro, b: Pro, c: team", kPro),
            "p.yaml:1:36: warning: value 'Pro' of map 'tiers' (1 key) is matched by no rule; did "
            "you mean 'pro'?\n");
  EXPECT_EQ(warnings("a: pro, b: team, c: unknown", kPro), "");
  EXPECT_NE(warnings("a: taem, b: taem", kPro)
                .find("(2 keys) is matched by no rule; did you mean "
                      "'team'?"),
            std::string::npos);
}

TEST(MapValueWarnings, AValueThatResemblesNoneMayBeATierWithoutLimits) {
  EXPECT_EQ(warnings("a: gold, b: internal", kPro), "");
}

TEST(MapValueWarnings, AnyOtherUseOfTheAttributeTakesAnyValue) {
  for (const char* rule :
       {"{name: r, limit: 1/s, when: {tier: {prefix: P}}}", "{name: r, limit: 1/s, key: tier}",
        "{name: r, limit: 1/s, when: {tier: {not: pro}}}",
        "{name: r, limit: 1/s, when: {tier: {regex: 'P.*'}}}",
        "{name: r, limit: 1/s, when: {tier: {present: true}}}",
        "{name: r, limit: 1/s, when: {tier: P*}}", "{name: r, limit: 1/s, cost: {attribute: tier}}",
        "{name: r, limit: 1/s, when: {tier: Pro}}",
        "{name: r, limit: 1/s, when: {tier: Pro}, key: tier}"}) {
    EXPECT_EQ(warnings("a: Pro", std::string(kPro) + ", " + rule), "") << rule;
  }
  EXPECT_NE(warnings("a: Pro",
                     std::string(kPro) + ", {name: r, limit: 1/s, when: {tier: team}, key: tier}"),
            "");
}

TEST(MapValueWarnings, ListsAndOtherDomainsMatchToo) {
  const std::string maps = "maps: {tiers: {values: {a: pro, b: prod, c: prov}}}\n";
  const std::string lookup = "attributes: {tier: {map: tiers, by: user_id}}, ";
  EXPECT_EQ(text_of(load_text(
                maps + "domains: {api: {" + lookup +
                    "deny: [{name: d, when: {tier: prov}}], rules: [{name: r, limit: 1/s, when: "
                    "{tier: pro}}]}, web: {" +
                    lookup + "rules: [{name: r, limit: 1/s, when: {tier: prod}}]}}\n",
                "p.yaml")),
            "");
}

TEST(MapValueWarnings, AMapHasFewWarnings) {
  std::string values = "first: enterprise";
  for (int i = 100; i < 300; ++i) {
    values += ", k" + std::to_string(i) + ": enterprise" + std::to_string(i);
  }
  const std::string all = warnings(values, "{name: r, limit: 1/s, when: {tier: enterprise}}");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3) << all;
  EXPECT_NE(all.find("'enterprise102'"), std::string::npos) << all;
}

}  // namespace
}  // namespace penstock::rules
