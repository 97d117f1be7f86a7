// What rules of our own format say about requests.
#include "rules/model/ruleset.hpp"

#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

std::shared_ptr<const Ruleset> rules_of(const std::string& domain) {
  Loaded result = load_text("domains: {api: {" + domain + "}}", "p.yaml");
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity == Diagnostic::Severity::Error) ADD_FAILURE() << to_string(diagnostic);
  }
  return result.configuration ? result.configuration->rules : std::make_shared<Ruleset>();
}

Request request_of(std::vector<Attribute> entries) {
  return {.domain = "api", .descriptors = {{.entries = std::move(entries)}}};
}

// "subject|limit|quota|cost" of each limit that applies
std::string answer(const Ruleset& rules, const Request& request) {
  std::string all;
  for (const MatchedLimit& matched : rules.match(request).limits) {
    all += all.empty() ? "" : "\n";
    all += matched.check.name.subject + "|" + matched.check.name.limit + "|" +
           to_string(matched.check.quota) + "|" + std::to_string(matched.check.cost.units);
  }
  return all;
}

std::string answer(const std::string& domain, std::vector<Attribute> entries) {
  return answer(*rules_of(domain), request_of(std::move(entries)));
}

bool applies(const std::string& when, std::vector<Attribute> entries) {
  return !answer("rules: [{name: r, limit: 1/s, when: " + when + "}]", std::move(entries)).empty();
}

TEST(Ruleset, CountsByTheKeyOfTheRule) {
  EXPECT_EQ(answer("rules: [{name: r, limit: 5/m, key: [user, method]}]",
                   {{"method", "GET"}, {"user", "ann"}}),
            "user=ann&method=GET|api/r|5/m|1");
  EXPECT_EQ(answer("rules: [{name: r, limit: 5/m}]", {{"user", "ann"}}), "|api/r|5/m|1");
}

TEST(Ruleset, SubjectsAndLimitsOfDifferentThingsDiffer) {
  EXPECT_EQ(answer("rules: [{name: a/b, limits: {c%d: 5/m}, key: [user]}]", {{"user", "x&y=z%\n"}}),
            "user=x%26y%3Dz%25%0A|api/a%2Fb/c%25d|5/m|1");
}

TEST(Ruleset, NamesTheAttributesThatARuleReads) {
  const auto loaded = load_text(
      "maps: {plans: {values: {k: gold}}}\n"
      "domains: {api: {attributes: {plan: {map: plans, by: api_key}}, caller_attributes: [size], rules: ["
      "{name: r, when: {plan: gold, path: '/a/{id}', method: {not: GET}}, key: [id, client_ip], "
      "cost: {attribute: size, default: 1}, limit: 1/s}, {name: all, limit: 1/s}]}}",
      "p.yaml");
  ASSERT_TRUE(loaded.configuration) << to_string(loaded.diagnostics.at(0));
  const Ruleset& rules = *loaded.configuration->rules;
  EXPECT_EQ(rules.attributes_of(*rules.find("api", "r")),
            (std::vector<std::string>{"api_key", "client_ip", "method", "path", "size"}));
  EXPECT_EQ(rules.attributes_of(*rules.find("api", "all")), std::vector<std::string>{});
}

TEST(Ruleset, DoesNotApplyWithoutAnAttributeOfItsKey) {
  const auto rules = rules_of("rules: [{name: r, limit: 5/m, key: [user]}]");
  EXPECT_EQ(answer(*rules, request_of({{"method", "GET"}})), "");
  EXPECT_EQ(rules->explain(request_of({})).rules.at(0).reason,
            "user is absent, which this rule counts by");
}

TEST(Ruleset, AddressesAreCutToTheirNetworkAndWrittenInOneWay) {
  const auto rules = rules_of("rules: [{name: r, limit: 5/m, key: client_ip}]");
  EXPECT_EQ(answer(*rules, request_of({{"client_ip", "2001:DB8:0:1:2:3:4:5"}})),
            "client_ip=2001:db8:0:1::|api/r|5/m|1");
  EXPECT_EQ(answer(*rules, request_of({{"client_ip", "::ffff:1.2.3.4"}})),
            "client_ip=1.2.3.4|api/r|5/m|1");
  EXPECT_EQ(answer(*rules, request_of({{"client_ip", "unix:socket"}})),
            "client_ip=unix:socket|api/r|5/m|1");
  EXPECT_EQ(
      answer("ipv6_prefix: 48, rules: [{name: r, limit: 5/m, key: client_ip, ipv4_prefix: 24}]",
             {{"client_ip", "1.2.3.4"}}),
      "client_ip=1.2.3.0|api/r|5/m|1");
  EXPECT_EQ(
      answer("ipv6_prefix: 48, rules: [{name: r, limit: 5/m, key: client_ip, ipv4_prefix: 24}]",
             {{"client_ip", "2001:db8:1:2::1"}}),
      "client_ip=2001:db8:1::|api/r|5/m|1");
}

TEST(Ruleset, ShortConditionsMatch) {
  EXPECT_TRUE(applies("{method: get}", {{"method", "GET"}}));
  EXPECT_FALSE(applies("{method: GET}", {{"method", "get"}}));
  EXPECT_TRUE(applies("{tier: [free, trial]}", {{"tier", "trial"}}));
  EXPECT_FALSE(applies("{tier: [free, trial]}", {{"tier", "gold"}}));
  EXPECT_FALSE(applies("{tier: free}", {}));
  EXPECT_TRUE(applies("{agent: curl*}", {{"agent", "curl/7.0"}}));
  EXPECT_TRUE(applies("{target: /a/*}", {{"target", "/a/b"}}));
  EXPECT_FALSE(applies("{target: /a/*}", {{"target", "/a/b/c"}}));
  EXPECT_TRUE(applies("{path: /v1/**}", {{"path", "/v1/a/b"}}));
  EXPECT_TRUE(applies("{route: users.list}", {{"route", "users.list"}}));
  EXPECT_TRUE(applies("{client_ip: [10.0.0.0/8, 2001:db8::/32]}", {{"client_ip", "10.9.8.7"}}));
  EXPECT_TRUE(applies("{client_ip: 10.0.0.0/8}", {{"client_ip", "::ffff:10.0.0.1"}}));
  EXPECT_FALSE(applies("{client_ip: 10.0.0.0/8}", {{"client_ip", "11.0.0.1"}}));
  EXPECT_FALSE(applies("{client_ip: 0.0.0.0/0}", {{"client_ip", "not-an-address"}}));
}

TEST(Ruleset, FullConditionsMatch) {
  EXPECT_TRUE(applies("{a: {equals: x*}}", {{"a", "x*"}}));
  EXPECT_FALSE(applies("{a: {equals: x*}}", {{"a", "xy"}}));
  EXPECT_TRUE(applies("{a: {one_of: [x, y]}}", {{"a", "y"}}));
  EXPECT_TRUE(applies("{a: {prefix: ab}}", {{"a", "abc"}}));
  EXPECT_FALSE(applies("{a: {prefix: ab}}", {{"a", "ba"}}));
  EXPECT_TRUE(applies("{a: {glob: '*.png'}}", {{"a", "x.png"}}));
  EXPECT_TRUE(applies("{a: {template: '/u/{x}'}}", {{"a", "/u/1"}}));
  EXPECT_TRUE(applies("{a: {cidr: 10.0.0.0/8}}", {{"a", "10.1.1.1"}}));
  EXPECT_TRUE(applies("{a: {regex: '[0-9]+'}}", {{"a", "123"}}));
  EXPECT_FALSE(applies("{a: {regex: '[0-9]+'}}", {{"a", "123x"}}));
  EXPECT_TRUE(applies("{a: {present: false}}", {}));
  EXPECT_FALSE(applies("{a: {present: true}}", {}));
  EXPECT_TRUE(applies("{a: {not: x}}", {{"a", "y"}}));
  EXPECT_TRUE(applies("{a: {not: x}}", {}));
  EXPECT_FALSE(applies("{a: {not: [x, y]}}", {{"a", "y"}}));
  EXPECT_TRUE(applies("{a: {prefix: x, not: {glob: '*y'}}}", {{"a", "xz"}}));
  EXPECT_FALSE(applies("{a: {prefix: x, not: {glob: '*y'}}}", {{"a", "xy"}}));
}

TEST(Ruleset, CountsByWhatAPatternCaptured) {
  EXPECT_EQ(answer("rules: [{name: r, limit: 5/m, when: {path: '/users/{id}/**'}, key: [id]}]",
                   {{"path", "/users/42/posts"}, {"id", "claimed"}}),
            "id=42|api/r|5/m|1");
}

TEST(Ruleset, DenyBeatsAllowAndAllowBeatsRules) {
  const auto rules = rules_of(
      "deny: [{name: banned, when: {user: eve}}], allow: [{name: health, when: {path: /healthz}}],"
      "rules: [{name: all, limit: 1/s}]");
  const Match denied = rules->match(request_of({{"user", "eve"}, {"path", "/healthz"}}));
  EXPECT_EQ(denied.list_entry, rules->find("api", "banned"));
  EXPECT_EQ(denied.descriptors, std::vector{DescriptorOutcome::Denied});
  EXPECT_TRUE(denied.limits.empty());
  const Match allowed = rules->match(request_of({{"user", "ann"}, {"path", "/healthz"}}));
  EXPECT_EQ(allowed.list_entry, rules->find("api", "health"));
  EXPECT_EQ(allowed.descriptors, std::vector{DescriptorOutcome::Allowed});
  EXPECT_TRUE(allowed.limits.empty());
  const Match limited = rules->match(request_of({{"user", "ann"}}));
  EXPECT_EQ(limited.list_entry, nullptr);
  EXPECT_EQ(limited.descriptors, std::vector{DescriptorOutcome::Limited});
  EXPECT_EQ(limited.limits.size(), 1U);
}

TEST(Ruleset, OneDeniedDescriptorDeniesTheRequest) {
  const auto rules = rules_of(
      "deny: [{name: banned, when: {user: eve}}], allow: [{name: ok, when: {user: ann}}],"
      "rules: [{name: all, limit: 1/s}]");
  const Request request{.domain = "api",
                        .descriptors = {{.entries = {{"user", "ann"}}},
                                        {.entries = {{"user", "bob"}}},
                                        {.entries = {{"user", "eve"}}}}};
  const Match match = rules->match(request);
  EXPECT_EQ(match.list_entry, rules->find("api", "banned"));
  EXPECT_EQ(match.descriptors, (std::vector{DescriptorOutcome::Allowed, DescriptorOutcome::Limited,
                                            DescriptorOutcome::Denied}));
  EXPECT_TRUE(match.limits.empty());
}

TEST(Ruleset, CostsMultiply) {
  const auto rules = rules_of(
      "rules: [{name: a, limit: 1/s, cost: 3}, {name: b, limit: 1/s, cost: {attribute: tokens, "
      "default: 2}}]");
  Request request = request_of({{"tokens", "70"}});
  EXPECT_EQ(answer(*rules, request), "|api/a|1/s|3\n|api/b|1/s|70");
  request.cost = Cost{2};
  EXPECT_EQ(answer(*rules, request), "|api/a|1/s|6\n|api/b|1/s|140");
  request.descriptors[0].cost = Cost{0};
  EXPECT_EQ(answer(*rules, request), "|api/a|1/s|0\n|api/b|1/s|0");
  for (const std::string_view odd : {"", "-5", "7x", "many"}) {
    EXPECT_EQ(answer(*rules, request_of({{"tokens", odd}})), "|api/a|1/s|3\n|api/b|1/s|2") << odd;
  }
  EXPECT_EQ(answer(*rules, request_of({{"tokens", "99999999999999999999999"}})),
            "|api/a|1/s|3\n|api/b|1/s|18446744073709551615");
}

TEST(Ruleset, TheSameCountIsAskedOnceWithTheCostsAdded) {
  const auto rules = rules_of("rules: [{name: r, limit: 5/s, key: user}]");
  const Request request{.domain = "api",
                        .descriptors = {{.entries = {{"user", "ann"}}, .cost = Cost{2}},
                                        {.entries = {{"user", "bob"}}},
                                        {.entries = {{"user", "ann"}}, .cost = Cost{3}}}};
  EXPECT_EQ(answer(*rules, request), "user=ann|api/r|5/s|5\nuser=bob|api/r|5/s|1");
}

TEST(Ruleset, RefundsAreNotMergedWithCharges) {
  const auto rules = rules_of("rules: [{name: r, limit: 5/s}]");
  const Request request{.domain = "api",
                        .descriptors = {{.entries = {}}, {.entries = {}, .is_refund = true}}};
  EXPECT_EQ(rules->match(request).limits.size(), 2U);
}

TEST(Ruleset, ARequestLimitReplacesTheRulesButNotTheLists) {
  const auto rules =
      rules_of("deny: [{name: no, when: {user: eve}}], rules: [{name: r, limit: 5/s}]");
  Request request = request_of({{"user", "ann"}, {"b", "c"}});
  request.descriptors[0].limit = *Quota::parse("7/h");
  EXPECT_EQ(answer(*rules, request), "user=ann&b=c|api/#3600000ms|7/h|1");
  EXPECT_EQ(rules->match(request).limits.at(0).rule, nullptr);
  EXPECT_EQ(rules->match(request).descriptors, std::vector{DescriptorOutcome::Replaced});
  request.descriptors[0].entries[0].value = "eve";
  EXPECT_EQ(rules->match(request).descriptors, std::vector{DescriptorOutcome::Denied});
}

TEST(Ruleset, RuleKeysNeverCollideWithRequestLimitKeys) {
  EXPECT_EQ(answer("rules: [{name: '#', limit: 5/s}]", {}), "|api/%23|5/s|1");
}

std::shared_ptr<const Ruleset> with_maps() {
  Loaded result = load_text(R"(
maps:
  tiers: {values: {abc: gold, xyz: silver}}
  sizes: {values: {gold: large}}
  custom: {values: {abc: 5000/minute burst 10, vip: unlimited, slow: 1/day fixed_window}}
domains:
  api:
    attributes:
      tier: {map: tiers, by: api_key, default: free}
      size: {map: sizes, by: tier}
    rules:
      - {name: r, when: {tier: [gold, free]}, key: [tier], limit: 1/s}
      - {name: large, when: {size: large}, limit: 2/s}
      - {name: o, key: [api_key], if_missing: skip, limit: 3/s gcra, overrides: {map: custom, by: api_key}}
)",
                            "p.yaml");
  for (const Diagnostic& diagnostic : result.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return result.configuration ? result.configuration->rules : std::make_shared<Ruleset>();
}

TEST(Ruleset, TheSameKeyUnderTwoQuotasIsAskedUnderBoth) {
  Loaded loaded = load_text(R"(
maps: {plans: {values: {pro: 50/s}}}
domains:
  api:
    rules: [{name: r, limit: 5/s, key: user, overrides: {map: plans, by: plan}}]
)",
                            "p.yaml");
  ASSERT_TRUE(loaded.configuration);
  const Request request{.domain = "api",
                        .descriptors = {{.entries = {{"user", "ann"}, {"plan", "pro"}}},
                                        {.entries = {{"user", "ann"}}},
                                        {.entries = {{"user", "ann"}, {"plan", "pro"}}}}};
  EXPECT_EQ(answer(*loaded.configuration->rules, request),
            "user=ann|api/r|50/s|2\nuser=ann|api/r|5/s|1");
}

TEST(Ruleset, MappedAttributesOverrideClientValues) {
  const auto rules = with_maps();
  EXPECT_EQ(answer(*rules, request_of({{"api_key", "abc"}, {"tier", "x"}, {"size", "y"}})),
            "tier=gold|api/r|1/s|1\n|api/large|2/s|1\n"
            "api_key=abc|api/o|5000/m burst 10 gcra|1");
  EXPECT_EQ(answer(*rules, request_of({{"tier", "gold"}, {"size", "large"}})),
            "tier=free|api/r|1/s|1");
  EXPECT_EQ(answer(*rules, request_of({{"api_key", "xyz"}})), "api_key=xyz|api/o|3/s gcra|1");
}

TEST(Ruleset, OverridesReplaceTheQuotaOfSome) {
  const auto rules = with_maps();
  EXPECT_EQ(answer(*rules, request_of({{"api_key", "slow"}})),
            "tier=free|api/r|1/s|1\napi_key=slow|api/o|1/d fixed_window|1");
  EXPECT_EQ(answer(*rules, request_of({{"api_key", "vip"}})), "tier=free|api/r|1/s|1");
}

TEST(Ruleset, ChecksCarryTheModeOfTheirRule) {
  const core::SharingTerms leased{.mode = core::Mode::Lease,
                                  .lifetime = std::chrono::milliseconds{20}};
  const Loaded loaded = load_text(
      "maps: {m: {values: {vip: 9/d}}}\n"
      "domains: {api: {mode: lease, lease_lifetime: 20ms, rules: "
      "[{name: r, limits: {a: 5/s, b: 5/m}}, {name: e, limit: 5/h, mode: exact}, "
      "{name: o, limit: 5/s, overrides: {map: m, by: user}}]}}",
      "p.yaml");
  Request request = request_of({{"user", "vip"}});
  const std::vector<MatchedLimit> limits = loaded.configuration->rules->match(request).limits;
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0].check.terms, leased);
  EXPECT_EQ(limits[1].check.terms, leased);
  EXPECT_EQ(limits[2].check.terms, core::SharingTerms{});
  EXPECT_EQ(limits[3].check.terms, leased);
  EXPECT_EQ(to_string(limits[3].check.quota), "9/d");
  request.descriptors[0].limit = *Quota::parse("7/h");
  EXPECT_EQ(loaded.configuration->rules->match(request).limits.at(0).check.terms,
            core::SharingTerms{});
}

TEST(Ruleset, LimitKeyEqualsTheKeyOfMatching) {
  const auto rules = rules_of("rules: [{name: r, limits: {x: 5/s}, key: [client_ip, user]}]");
  const Rule& rule = *rules->find("api", "r");
  const core::LimitKey counted =
      rules->match(request_of({{"user", "a&b"}, {"client_ip", "2001:db8::1"}}))
          .limits.at(0)
          .check.name;
  EXPECT_EQ(Ruleset::limit_key(rule, 0, counted.subject), counted);
  EXPECT_EQ(Ruleset::limit_key(rule, 0, "user=a%26b&client_ip=2001:DB8:0::1"), counted);
  EXPECT_EQ(rules->rules_keyed_by("api", "user=x&client_ip=1.2.3.4"), std::vector{&rule});
  EXPECT_TRUE(rules->rules_keyed_by("api", "user=x").empty());
  EXPECT_TRUE(rules->rules_keyed_by("web", "user=x&client_ip=1.2.3.4").empty());
}

TEST(Ruleset, ExplainsANegatedCondition) {
  const auto rules = rules_of("rules: [{name: a, when: {tier: {not: [gold, free]}}, limit: 1/s}]");
  EXPECT_EQ(rules->explain(request_of({{"tier", "gold"}})).rules.at(0).reason,
            "tier \"gold\" is one of gold, free");
}

TEST(Ruleset, ExplainsEveryRule) {
  const auto rules = rules_of(
      "allow: [{name: ok, when: {user: root}}],"
      "rules: [{name: a, when: {path: /v1/**, method: [GET, PUT]}, limit: 1/s}, {name: b, limit: "
      "1/s}]");
  const Explanation limited = rules->explain(request_of({{"path", "/v2"}}));
  ASSERT_EQ(limited.rules.size(), 3U);
  EXPECT_EQ(limited.rules[0].reason, "user is absent, and not root");
  EXPECT_EQ(limited.rules[1].reason, "path \"/v2\" is not /v1/**");
  EXPECT_EQ(limited.rules[2].reason, "applies");
  EXPECT_TRUE(limited.rules[2].matched);
  EXPECT_EQ(limited.match.limits.size(), 1U);
  const Explanation allowed = rules->explain(request_of({{"user", "root"}}));
  EXPECT_EQ(allowed.rules[0].reason, "applies");
  EXPECT_EQ(allowed.rules[2].reason, "would apply, but the request is allowed");
}

TEST(Ruleset, AnUnknownDomainIsReported) {
  const auto rules = rules_of("rules: [{name: r, limit: 5/s}]");
  EXPECT_FALSE(rules->match({.domain = "web", .descriptors = {{}}}).domain_known);
  EXPECT_TRUE(rules->match({.domain = "api", .descriptors = {{}}}).domain_known);
}

}  // namespace
}  // namespace penstock::rules
