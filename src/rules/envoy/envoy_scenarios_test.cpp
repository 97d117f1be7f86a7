// Realistic configurations with requests from Envoy.
#include "rules/envoy/envoy_format.hpp"

#include <gtest/gtest.h>

namespace penstock::rules {
namespace {

std::shared_ptr<const Ruleset> load_scenario(std::string_view text) {
  Diagnostics diagnostics;
  const auto document = YamlDocument::parse(text, "limits.yaml", diagnostics);
  RulesetBuilder builder;
  if (document != nullptr) load_envoy(YamlNode(*document), builder);
  for (const Diagnostic& diagnostic : diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return builder.build();
}

// All that holds, "rule: limit of count", one per line.
std::string holds(const Ruleset& rules, std::string_view domain,
                  std::vector<std::vector<Attribute>> descriptors) {
  Request request{.domain = domain, .descriptors = {}};
  for (auto& entries : descriptors) request.descriptors.push_back({.entries = std::move(entries)});
  std::string text;
  for (const MatchedLimit& matched : rules.match(request).limits) {
    text += (text.empty() ? "" : "\n") + matched.rule->name + ": " +
            std::to_string(matched.check.quota.limit()) + " of " + matched.check.name.subject;
  }
  return text;
}

TEST(EnvoyScenarios, GatewayOfAMapServiceLimitsTenantsByRoute) {
  const auto rules = load_scenario(R"(
domain: maps
descriptors:
  - key: tenant
    rate_limit: {unit: second, requests_per_unit: 50}
    descriptors:
      - key: route
        rate_limit: {unit: second, requests_per_unit: 20}
      - key: route
        value: tiles
        rate_limit: {unit: second, requests_per_unit: 500}
      - key: route
        value: geocode-*
        rate_limit: {unit: minute, requests_per_unit: 100}
  - key: tenant
    value: internal-*
    descriptors:
      - key: route
  - key: generic_key
    value: edge
    rate_limit: {unit: second, requests_per_unit: 100000}
)");
  EXPECT_EQ(holds(*rules, "maps",
                  {{{"generic_key", "edge"}},
                   {{"tenant", "acme"}},
                   {{"tenant", "acme"}, {"route", "tiles"}}}),
            "generic_key_edge: 100000 of generic_key=edge\n"
            "tenant: 50 of tenant=acme\n"
            "tenant.route_tiles: 500 of tenant=acme&route=tiles");
  EXPECT_EQ(holds(*rules, "maps", {{{"tenant", "acme"}, {"route", "geocode-batch"}}}),
            "tenant.route_geocode-*: 100 of tenant=acme&route=geocode-batch");
  // a descriptor without a limit is not limited, at any level
  EXPECT_EQ(holds(*rules, "maps",
                  {{{"tenant", "internal-ci"}}, {{"tenant", "internal-ci"}, {"route", "tiles"}}}),
            "");
  EXPECT_EQ(holds(*rules, "unknown", {{{"tenant", "acme"}}}), "");
}

TEST(EnvoyScenarios, MessagingServiceCapsSendersAndWarnsAboutNewLimits) {
  const auto rules = load_scenario(R"(
---
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: {unit: day, requests_per_unit: 5}
  - key: to_number
    rate_limit: {unit: day, requests_per_unit: 100}
  - key: api
    value: v2/*/send
    shadow_mode: on
    rate_limit: {unit: Minute, requests_per_unit: 30}
  - key: campaign
    quota_mode: yes
    metadata: {team: growth, cost: 1.5}
    rate_limit: {unit: MONTH, requests_per_unit: 1000000}
)");
  EXPECT_EQ(holds(*rules, "messaging",
                  {{{"message_type", "marketing"}, {"to_number", "+49 170 1"}},
                   {{"to_number", "+49 170 1"}},
                   {{"api", "v2/sms/send"}},
                   {{"campaign", "spring&summer"}}}),
            "message_type_marketing.to_number: 5 of message_type=marketing&to_number=+49 170 1\n"
            "to_number: 100 of to_number=+49 170 1\n"
            "api_v2/*/send: 30 of api=v2/sms/send\n"
            "campaign: 1000000 of campaign=spring%26summer");
  EXPECT_EQ(holds(*rules, "messaging", {{{"message_type", "receipt"}, {"to_number", "1"}}}), "");
}

TEST(EnvoyScenarios, FileWithManyTenantsFindsEachOfThem) {
  std::string text = "domain: saas\ndescriptors:\n";
  for (int i = 0; i < 10'000; ++i) {
    text += "- key: tenant\n  value: t" + std::to_string(i) +
            "\n  rate_limit: {unit: minute, requests_per_unit: " + std::to_string(i + 1) + "}\n";
  }
  const auto rules = load_scenario(text);
  ASSERT_EQ(rules->rules().size(), 10'000U);
  for (const int i : {0, 1, 4999, 9999}) {
    const std::string tenant = "t" + std::to_string(i);
    EXPECT_EQ(holds(*rules, "saas", {{{"tenant", tenant}}}),
              "tenant_" + tenant + ": " + std::to_string(i + 1) + " of tenant=" + tenant);
  }
  EXPECT_EQ(holds(*rules, "saas", {{{"tenant", "t10000"}}}), "");
}

}  // namespace
}  // namespace penstock::rules
