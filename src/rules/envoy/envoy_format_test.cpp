#include "rules/envoy/envoy_format.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

// Files that are loaded one after the other.
struct Loading {
  Diagnostics diagnostics{};
  RulesetBuilder builder{};
  std::shared_ptr<const Ruleset> rules{};

  explicit Loading(std::string_view text) {
    add(text, "limits.yaml");
    rules = builder.build();
  }
  Loading(std::string_view first, std::string_view second) {
    add(first, "first.yaml");
    add(second, "second.yaml");
    rules = builder.build();
  }
  void add(std::string_view text, const std::string& file) {
    const auto document = YamlDocument::parse(text, file, diagnostics);
    if (document == nullptr) return;
    EXPECT_TRUE(is_envoy_format(YamlNode(*document)));
    load_envoy(YamlNode(*document), builder);
  }
  Texts diagnostics_text() const {
    Texts texts;
    for (const Diagnostic& diagnostic : diagnostics) texts.push_back(to_string(diagnostic));
    return texts;
  }
  const Rule& only_rule() const {
    EXPECT_EQ(diagnostics_text(), Texts{});
    EXPECT_EQ(rules->rules().size(), 1U);
    return *rules->rules().front();
  }
};

// What is said about a file with this one descriptor, in its line 3.
Texts complaints_about(const std::string& descriptor) {
  return Loading("domain: d\ndescriptors:\n- " + descriptor + "\n").diagnostics_text();
}
// ... with this rate_limit in its line 4.
Texts complaints_about_limit(const std::string& limit) {
  return complaints_about("key: k\n  rate_limit: " + limit);
}
const std::string kLimit = "rate_limit: {unit: day, requests_per_unit: 1}";

TEST(EnvoyFormat, ReadsALimit) {
  const Loading loading(R"(---
domain: shop
descriptors:
  - key: user
    value: eve
    shadow_mode: true
    quota_mode: true
    rate_limit:
      name: careful
      unit: HOUR
      requests_per_unit: 250
)");
  const Rule& rule = loading.only_rule();
  EXPECT_EQ(rule.domain, "shop");
  EXPECT_EQ(rule.name, "user_eve");
  EXPECT_EQ(rule.given_name, "careful");
  EXPECT_EQ(rule.metric, "shop.user_eve");
  EXPECT_EQ(rule.action, Action::Limit);
  ASSERT_EQ(rule.limits.size(), 1U);
  EXPECT_EQ(rule.limits[0].quota, Quota(per_hour(250).fixed_window()));
  EXPECT_TRUE(rule.shadow);
  EXPECT_TRUE(rule.quota_mode);
  EXPECT_FALSE(rule.count_denied);
  EXPECT_EQ(rule.on_failure, OnFailure::Open);
  EXPECT_EQ(rule.source.file, "limits.yaml");
  EXPECT_EQ(rule.source.line, 4U);
  EXPECT_EQ(loading.rules->find("shop", "user_eve"), &rule);
}

TEST(EnvoyFormat, KnowsAllUnitsInAnyCase) {
  const std::vector<std::pair<std::string, Duration>> units{
      {"second", 1s},    {"Minute", 1min},    {"HOUR", 1h},        {"day", Days{1}},
      {"week", Days{7}}, {"mOnTh", Days{30}}, {"year", Days{365}},
  };
  for (const auto& [unit, length] : units) {
    const Loading loading("domain: d\ndescriptors: [{key: k, rate_limit: {unit: " + unit +
                          ", requests_per_unit: 2}}]");
    EXPECT_EQ(loading.only_rule().limits.at(0).quota.period(), length) << unit;
  }
}

TEST(EnvoyFormat, ReadsPenstockOptions) {
  const Loading loading(R"(
domain: d
on_failure: closed
descriptors:
  - key: bucket
    rate_limit: {unit: minute, requests_per_unit: 60, algorithm: token_bucket, burst: 5}
  - key: strict
    rate_limit:
      {unit: minute, requests_per_unit: 60, algorithm: sliding_log, count_denied: true,
       on_failure: local, mode: local, share: nodes}
  - key: leased
    rate_limit: {unit: day, requests_per_unit: 9, mode: lease_strict, lease_lifetime: 20ms}
)");
  ASSERT_EQ(loading.diagnostics_text(), Texts{});
  const Rule* bucket = loading.rules->find("d", "bucket");
  const Rule* strict = loading.rules->find("d", "strict");
  EXPECT_EQ(bucket->limits.at(0).quota, Quota(per_minute(60).burst(5)));
  EXPECT_EQ(bucket->on_failure, OnFailure::Closed);
  EXPECT_EQ(strict->limits.at(0).quota, Quota(per_minute(60).sliding_log()));
  EXPECT_EQ(strict->on_failure, OnFailure::Local);
  EXPECT_TRUE(strict->count_denied);
  EXPECT_EQ(bucket->terms, core::SharingTerms{});
  EXPECT_EQ(strict->terms, (core::SharingTerms{.mode = core::Mode::Local, .divided = true}));
  EXPECT_EQ(loading.rules->find("d", "leased")->terms,
            (core::SharingTerms{.mode = core::Mode::LeaseStrict, .lifetime = 20ms}));
}

TEST(EnvoyFormat, FileSetsTheModeOfItsLimits) {
  const Loading loading(R"(
domain: d
mode: lease
lease_lifetime: 30ms
share: nodes
descriptors:
  - {key: a, rate_limit: {unit: day, requests_per_unit: 9}}
  - {key: b, rate_limit: {unit: day, requests_per_unit: 9, mode: exact}}
  - {key: c, rate_limit: {unlimited: true}}
)");
  ASSERT_EQ(loading.diagnostics_text(), Texts{});
  EXPECT_EQ(loading.rules->find("d", "a")->terms,
            (core::SharingTerms{.mode = core::Mode::Lease, .lifetime = 30ms}));
  EXPECT_EQ(loading.rules->find("d", "b")->terms, core::SharingTerms{});
}

TEST(EnvoyFormat, UnlimitedIsARuleWithoutALimitAndNoRequestsIsALimitOfZero) {
  const Loading loading(R"(
domain: d
descriptors:
  - {key: free, rate_limit: {unlimited: yes}}
  - {key: banned, rate_limit: {unit: second, requests_per_unit: 0}}
  - {key: listed}
  - {key: null_limit, rate_limit: }
)");
  ASSERT_EQ(loading.diagnostics_text(), Texts{});
  EXPECT_EQ(loading.rules->rules().size(), 2U);
  EXPECT_EQ(loading.rules->find("d", "free")->action, Action::Unlimited);
  EXPECT_EQ(loading.rules->find("d", "banned")->action, Action::Limit);
  EXPECT_EQ(loading.rules->find("d", "banned")->limits.at(0).quota, Quota::none(1s));
}

TEST(EnvoyFormat, NamesRulesByTheirPathAndKeepsThemApart) {
  const Loading loading(R"(
domain: d
descriptors:
  - key: a
    value: x
    descriptors: [{key: b, value: 1, rate_limit: {unit: day, requests_per_unit: 1}}]
  - {key: a_x.b_1, rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: ip, value: 10.0.0.1, rate_limit: {unit: day, requests_per_unit: 3}}
)");
  ASSERT_EQ(loading.diagnostics_text(), Texts{});
  ASSERT_EQ(loading.rules->rules().size(), 3U);
  EXPECT_EQ(loading.rules->rules()[0]->name, "a_x.b_1");
  EXPECT_EQ(loading.rules->rules()[1]->name, "a_x..b_1");
  EXPECT_EQ(loading.rules->rules()[2]->name, "ip_10.0.0.1");
  EXPECT_EQ(loading.rules->rules_keyed_by("d", "a=x&b=1").size(), 1U);
}

TEST(EnvoyFormat, ReadsScalarsAsYaml11) {
  const Loading loading(R"(
domain: 404
descriptors:
  - {key: status, value: 500, rate_limit: {unit: day, requests_per_unit: 1_000}}
  - {key: flag, value: true, rate_limit: {unit: day, requests_per_unit: 0x10}}
  - {key: answer, value: yes, rate_limit: {unit: day, requests_per_unit: 010}}
  - {key: version, value: "1.5", rate_limit: {unit: day, requests_per_unit: 1}}
  - {key: day, value: 2026-01-31, rate_limit: {unit: day, requests_per_unit: +7}}
  - {key: address, value: 1.2.3.4, rate_limit: {unit: day, requests_per_unit: 1}}
)");
  ASSERT_EQ(loading.diagnostics_text(), Texts{});
  const auto limit = [&](std::string_view rule) {
    const Rule* found = loading.rules->find("404", rule);
    return found == nullptr ? 0 : found->limits.at(0).quota.limit();
  };
  EXPECT_EQ(limit("status_500"), 1000U);
  EXPECT_EQ(limit("flag_true"), 16U);
  EXPECT_EQ(limit("answer_yes"), 8U);
  EXPECT_EQ(limit("version_1.5"), 1U);
  EXPECT_EQ(limit("day_2026-01-31"), 7U);
  EXPECT_EQ(limit("address_1.2.3.4"), 1U);
}

TEST(EnvoyFormat, AcceptsMetadataOfAnyShape) {
  EXPECT_EQ(
      complaints_about("key: k\n  metadata: {anything: [1.5, {deep: yes}], 7: x}\n  " + kLimit),
      Texts{});
  EXPECT_EQ(complaints_about("key: k\n  metadata: words"),
            Texts{"limits.yaml:4:13: error: error parsing metadata: expected a map"});
}

TEST(EnvoyFormat, KeepsMetadataWithTheTypesOfYaml) {
  const Loading loading("domain: d\ndescriptors:\n- key: k\n  " + kLimit + R"(
  metadata: {team: growth, cost: 1.5, tier: 0x10, paid: true, spoken: yes, quoted: '7',
             nothing: , list: [1, {deep: [x]}]}
)");
  const Rule& rule = loading.only_rule();
  std::string text;
  for (const auto& [name, value] : rule.metadata) {
    text += name + ":" + std::to_string(value.value.index()) + " ";
  }
  EXPECT_EQ(text, "team:3 cost:2 tier:2 paid:1 spoken:3 quoted:3 nothing:0 list:4 ");
  EXPECT_EQ(std::get<double>(rule.metadata[1].second.value), 1.5);
  EXPECT_EQ(std::get<double>(rule.metadata[2].second.value), 16.0);
  const auto& list = std::get<MetadataList>(rule.metadata[7].second.value);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(std::get<MetadataMap>(list[1].value).at(0).first, "deep");
  EXPECT_EQ(complaints_about("key: k\n  metadata: {a: .inf}\n  " + kLimit),
            Texts{"limits.yaml:4:17: error: error parsing metadata: \".inf\" is not a finite "
                  "number"});
}

TEST(EnvoyFormat, TextsAreUtf8) {
  EXPECT_EQ(complaints_about("key: \"caf\xC3\xA9\"\n  " + kLimit), Texts{});
  EXPECT_EQ(complaints_about("key: \"us\xFF\"\n  " + kLimit),
            Texts{"limits.yaml:3:8: error: not UTF-8"});
  EXPECT_EQ(complaints_about("key: k\n  value: \xED\xA0\x80\n  " + kLimit),
            Texts{"limits.yaml:4:10: error: not UTF-8"});
}

TEST(EnvoyFormat, AKeyWithAStarMayShareItsThreshold) {
  EXPECT_EQ(complaints_about("key: a*\n  share_threshold: true\n  " + kLimit), Texts{});
}

TEST(EnvoyFormat, FollowsAnchorsAndMergeKeys) {
  const Loading loading(R"(
domain: d
descriptors:
  - key: a
    rate_limit: &base {unit: minute, requests_per_unit: 7}
  - key: b
    rate_limit: *base
  - key: c
    rate_limit: {<<: *base, requests_per_unit: 9}
)");
  ASSERT_EQ(loading.diagnostics_text(), Texts{});
  EXPECT_EQ(loading.rules->find("d", "b")->limits.at(0).quota.limit(), 7U);
  EXPECT_EQ(loading.rules->find("d", "c")->limits.at(0).quota.limit(), 9U);
}

struct WrongDescriptor {
  std::string descriptor;  // in line 3
  Texts diagnostics_text;
};

TEST(EnvoyFormat, ReportsDescriptorErrorsWithPosition) {
  const std::vector<WrongDescriptor> mistakes{
      {"value: v", {"3:3: error: descriptor has empty key"}},
      {"key:", {"3:3: error: descriptor has empty key"}},
      {"key: [a]",
       {"3:9: error: config error, yaml file contains list of type other than map: a",
        "3:8: error: key: expected a text, found a list"}},
      {"kye: k",
       {"3:3: error: config error, unknown key 'kye'; did you mean 'key'?",
        "3:3: error: descriptor has empty key"}},
      {"key: k\n  0.25: x", {"4:3: error: config error, key is not of type string: 0.25"}},
      {"key: k\n  true: x", {"4:3: error: config error, key is not of type string: true"}},
      {"key: k\n  value: 1.5",
       {"4:10: error: error checking config: value is a number with a fraction; in quotes it is a "
        "text"}},
      {"key: k\n  descriptors: [a]",
       {"4:17: error: config error, yaml file contains list of type other than map: a"}},
      {"key: k\n  descriptors: {key: a}",
       {"4:16: error: descriptors: expected a list, found a map"}},
      {"key: k\n  shadow_mode: maybe",
       {"4:16: error: shadow_mode: expected true or false, found \"maybe\""}},
      {"key: k\n  value: v\n  share_threshold: true",
       {"5:20: error: share_threshold can only be used with wildcard values (containing '*'), but "
        "found key 'k_v'"}},
      {"key: k\n  unit: day",
       {"4:3: warning: 'unit' has no effect here; it belongs in rate_limit"}},
      {"key: k\n  burst: 7",
       {"4:3: error: config error, unknown key 'burst' here; it belongs in rate_limit"}},
      {"{key: k}\n- {key: k}",
       {"4:3: error: duplicate descriptor composite key 'd.k'; first in line 3"}},
      {"{key: a_b}\n- {key: a, value: b}",
       {"4:3: error: duplicate descriptor composite key 'd.a_b'; first in line 3"}},
      {"key: k\n  descriptors: [{key: a, value: b}, {key: a, value: b}]",
       {"4:37: error: duplicate descriptor composite key 'd.k.a_b'; first in line 4"}},
  };
  for (const WrongDescriptor& mistake : mistakes) {
    Texts expected;
    for (const std::string& complaint : mistake.diagnostics_text) {
      expected.push_back("limits.yaml:" + complaint);
    }
    EXPECT_EQ(complaints_about(mistake.descriptor), expected) << mistake.descriptor;
  }
}

TEST(EnvoyFormat, ReportsLimitErrorsWithPosition) {
  const std::vector<WrongDescriptor> mistakes{
      {"{unit: fortnight, requests_per_unit: 1}",
       {"4:22: error: invalid rate limit unit 'fortnight'"}},
      {"{requests_per_unit: 1}", {"4:15: error: invalid rate limit unit ''"}},
      {"{unit: unknown, requests_per_unit: 1}", {"4:22: error: invalid rate limit unit 'unknown'"}},
      {"{unit: day}",
       {"4:15: warning: requests_per_unit is missing, which denies everything, as 0 does"}},
      {"{unit: day, requests_per_unit: -1}",
       {"4:46: error: requests_per_unit: expected a whole number from 0 to 4294967295, found "
        "\"-1\""}},
      {"{unit: day, requests_per_unit: \"5\"}",
       {"4:46: error: requests_per_unit: expected a whole number from 0 to 4294967295, found "
        "\"5\""}},
      {"{unit: day, requests_per_unit: 1.5}",
       {"4:46: error: error checking config: requests_per_unit is a number with a fraction; in "
        "quotes it is a text"}},
      {"{unit: day, requests_per_unit: 4294967295}",
       {"4:46: error: requests_per_unit: 4294967295 is more than 1000000000, the most that can be "
        "counted; what has no limit is `unlimited: true`"}},
      {"{unlimited: true, unit: day}",
       {"4:39: error: should not specify rate limit unit when unlimited"}},
      {"{unlimited: true, unit: never}",
       {"4:39: warning: unit 'never' has no effect on what is unlimited"}},
      {"{unlimited: true, replaces: [{name: }]}",
       {"4:44: error: should not have an empty replaces entry"}},
      {"{unlimited: true, name: x, replaces: [{name: x}]}",
       {"4:53: error: replaces should not contain name of same descriptor: 'x'"}},
      {"{unlimited: true, replaces: [x]}",
       {"4:44: error: config error, yaml file contains list of type other than map: x"}},
      {"{unlimited: true, on_failure: never}",
       {"4:45: error: on_failure: expected one of open, closed or local, found \"never\""}},
      {"[]", {"4:15: error: rate_limit: expected a map, found a list"}},
  };
  for (const WrongDescriptor& mistake : mistakes) {
    Texts expected;
    for (const std::string& complaint : mistake.diagnostics_text) {
      expected.push_back("limits.yaml:" + complaint);
    }
    EXPECT_EQ(complaints_about_limit(mistake.descriptor), expected) << mistake.descriptor;
  }
}

TEST(EnvoyFormat, ValidatesPenstockOptions) {
  const Texts mode = complaints_about_limit(
      "{unit: day, requests_per_unit: 1, mode: lease, algorithm: sliding_log}");
  ASSERT_EQ(mode.size(), 1U);
  EXPECT_NE(mode[0].find("mode: lease cannot hold for rule"), std::string::npos) << mode[0];
  const Texts burst = complaints_about_limit("{unit: day, requests_per_unit: 1, burst: 7}");
  ASSERT_EQ(burst.size(), 1U);
  EXPECT_NE(burst[0].find("burst"), std::string::npos) << burst[0];
  const Texts algorithm =
      complaints_about_limit("{unit: day, requests_per_unit: 1, algorithm: leaky}");
  ASSERT_EQ(algorithm.size(), 1U);
  EXPECT_NE(algorithm[0].find("leaky"), std::string::npos) << algorithm[0];
}

TEST(EnvoyFormat, NeedsADomain) {
  EXPECT_EQ(Loading("descriptors: []").diagnostics_text(),
            Texts{"limits.yaml:1:1: error: config file cannot have empty domain"});
  EXPECT_EQ(Loading("domain: \"\"").diagnostics_text(),
            Texts{"limits.yaml:1:9: error: config file cannot have empty domain"});
  EXPECT_EQ(Loading("domain: {a: b}").diagnostics_text(),
            Texts{"limits.yaml:1:9: error: domain: expected a text, found a map"});
}

TEST(EnvoyFormat, DomainInTwoFilesIsNamedWithBothPlaces) {
  const std::string file = "domain: d\ndescriptors: [{key: k, " + kLimit + "}]";
  EXPECT_EQ(Loading(file, file).diagnostics_text(),
            Texts{"second.yaml:1:9: error: duplicate domain 'd' in config file; it is in "
                  "first.yaml:1 already"});
}

TEST(EnvoyFormat, SeveralFilesMakeSeveralDomains) {
  const std::string rest = "\ndescriptors: [{key: k, " + kLimit + "}]";
  const Loading loading("domain: one" + rest, "domain: two" + rest);
  EXPECT_EQ(loading.diagnostics_text(), Texts{});
  EXPECT_TRUE(loading.rules->has_domain("one"));
  EXPECT_TRUE(loading.rules->has_domain("two"));
  EXPECT_EQ(loading.rules->find("two", "k")->source.file, "second.yaml");
}

TEST(EnvoyFormat, RejectsWhatEnvoyRatelimitIgnores) {
  EXPECT_EQ(complaints_about("key: k\n  key: j"),
            Texts{"limits.yaml:4:3: error: key 'key' a second time; first in line 3"});
  const Texts documents = Loading("domain: d\n---\ndomain: e\n").diagnostics_text();
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_NE(documents[0].find("a second document"), std::string::npos) << documents[0];
}

TEST(EnvoyFormat, ReadsThirtyOneLevelsAndNoMore) {
  const auto nested = [](int levels) {
    std::string text = "domain: d\n";
    std::string margin;
    for (int level = 0; level < levels; ++level) {
      text += margin + "descriptors:\n" + margin + "- key: k\n";
      margin += "  ";
    }
    return text + margin + kLimit;
  };
  const Loading deep(nested(31));
  EXPECT_EQ(deep.only_rule().key.size(), 31U);
  const Texts diagnostics_text = Loading(nested(32)).diagnostics_text();
  ASSERT_EQ(diagnostics_text.size(), 1U);
  EXPECT_NE(diagnostics_text[0].find("nested deeper than 64"), std::string::npos)
      << diagnostics_text[0];
}

TEST(EnvoyFormat, ReportsAllErrorsOfAFile) {
  const Texts texts = Loading(R"(
domain: ""
descriptors:
  - value: x
    descriptors:
      - {key: a, rate_limit: {unit: aeon, requests_per_unit: -3}}
  - {key: b, what: is this}
)")
                          .diagnostics_text();
  EXPECT_EQ(texts.size(), 5U) << ::testing::PrintToString(texts);
}

}  // namespace
}  // namespace penstock::rules
