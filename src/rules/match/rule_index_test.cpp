// The index finds what looking at every rule finds, and looks at few.
#include "rules/match/rule_index.hpp"

#include "rules/match/attribute_matcher.hpp"
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

std::string random_condition() {
  return *rc::gen::element<std::string>(
      "method: GET", "method: [GET, PUT]", "method: {not: GET}", "user: ann", "user: [ann, bob]",
      "user: {present: true}", "user: {present: false}", "user: a*", "user: {regex: '[a-b].*'}",
      "user: {prefix: b}", "path: /a", "path: /a/*", "path: /a/**", "path: /**/b",
      "path: ['/a/b', '/{x}/b', '/**']", "path: {not: /a/**}",
      "path: [/q, /r, /s, /t, /u, /v, /w, /a/**, '/{x}/b', /a/b]", "path: /a*/b",
      "client_ip: 10.0.0.0/8", "client_ip: [10.1.0.0/16, 2001:db8::/32]",
      "client_ip: {not: 10.1.0.0/16}");
}

std::string random_rule(int number) {
  std::string when;
  for (const std::string_view attribute : {"method", "user", "path", "client_ip"}) {
    if (*rc::gen::arbitrary<bool>()) continue;
    const std::string condition = *rc::gen::suchThat(
        rc::gen::exec(random_condition),
        [&](const std::string& one) { return one.starts_with(std::string(attribute) + ":"); });
    when += (when.empty() ? "" : ", ") + condition;
  }
  const std::string key = *rc::gen::element<std::string>("", "key: user, ", "key: client_ip, ");
  return "      - {name: r" + std::to_string(number) + ", " + key + "limit: 1/s, when: {" + when +
         "}}\n";
}

Request random_request() {
  Request request{.domain = "api", .descriptors = {{}}};
  const auto add = [&](std::string_view name, std::initializer_list<std::string_view> values) {
    const auto value = *rc::gen::elementOf(std::vector<std::string_view>(values));
    if (!value.empty()) request.descriptors[0].entries.push_back({name, value});
  };
  add("method", {"", "GET", "PUT", "POST"});
  add("user", {"", "ann", "bob", "cyd"});
  add("path", {"", "/", "/a", "/a/b", "/a/b/c", "/c/b", "/ax/b"});
  add("client_ip", {"", "10.1.2.3", "10.2.2.3", "2001:db8::1", "11.0.0.1", "none"});
  return request;
}

RC_GTEST_PROP(RuleIndex, FindsWhatLookingAtEveryRuleFinds, ()) {
  std::string text = "domains:\n  api:\n    rules:\n";
  const int count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) text += random_rule(i);
  const Loaded loaded = load_text(text, "p.yaml");
  RC_ASSERT(loaded.configuration.has_value());
  const Ruleset& rules = *loaded.configuration->rules;
  for (int i = 0; i < 20; ++i) {
    const Request request = random_request();
    std::vector<const Rule*> found;
    for (const MatchedLimit& matched : rules.match(request).limits) found.push_back(matched.rule);
    std::vector<const Rule*> expected;
    for (const RuleReport& report : rules.explain(request).rules) {
      if (report.matched) expected.push_back(report.rule);
    }
    RC_ASSERT(found == expected);
  }
}

// Rules that each want another value of one attribute, and share what else they want.
AttributeDomain many_rules(std::size_t count, const std::string& kind) {
  AttributeDomain domain{.name = "api"};
  domain.slots = {{"method", 0}, {kind, 1}};
  domain.uses = {{}, {.as_path = kind == "path", .as_address = kind == "client_ip"}};
  static const Rule rule{.domain = "api", .name = "r"};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    AttributeRule one{.rule = &rule};
    one.conditions.push_back({.slot = 0, .attribute = "method", .test = make_one_of({"GET"})});
    Condition special{.slot = 1, .attribute = kind};
    std::vector<std::string> names;
    if (kind == "path") {
      special.test = make_path_one_of(
          {*PathPattern::parse("/v1/{t}/r" + number + "/**", PathPattern::Braces::Capture, names)});
    } else if (kind == "client_ip") {
      const std::string network =
          "10." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".0/24";
      special.test = make_in_network({*base::IpNetwork::parse(network)});
    } else {
      special.test = make_one_of({"u" + number, "v" + number});
    }
    one.conditions.push_back(std::move(special));
    domain.rules.push_back(std::move(one));
  }
  return domain;
}

TEST(RuleIndex, LooksAtAsFewOfTenThousandRulesAsOfTen) {
  for (const auto& [kind, value] : {std::pair<std::string, std::string>{"user", "v7"},
                                    {"path", "/v1/x/r7/y"},
                                    {"client_ip", "10.0.7.9"}}) {
    for (const std::size_t count : {10U, 10'000U}) {
      const AttributeMatcher matcher(many_rules(count, kind));
      const Descriptor descriptor{.entries = {{"method", "GET"}, {kind, value}}};
      EXPECT_EQ(matcher.count_candidates(descriptor), 1U) << kind << " " << count;
    }
  }
}

}  // namespace
}  // namespace penstock::rules
