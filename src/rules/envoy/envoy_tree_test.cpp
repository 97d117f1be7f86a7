#include "rules/envoy/envoy_tree.hpp"

#include "reference/any_envoy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::rules {
namespace {

using Traits = EnvoyNode::Traits;

void plant(EnvoyNode& parent, const std::vector<naive::Written>& children) {
  for (const naive::Written& written : children) {
    EnvoyNode* node = parent.add(written.traits);
    RC_ASSERT(node != nullptr);
    plant(*node, written.children);
  }
}

RC_GTEST_PROP(EnvoyTree, WalksAsTheNaiveTranscriptionDoes, ()) {
  const std::vector<naive::Written> written = naive::any_level(3);
  EnvoyNode root;
  plant(root, written);
  for (int repetition = 0; repetition < 20; ++repetition) {
    naive::AnyRequest any;
    any.fill();
    for (const Descriptor& descriptor : any.request.descriptors) {
      const std::vector<naive::Step> expected = naive::walk(written, descriptor.entries);
      std::string scratch;
      const EnvoyMatchPath match_path = walk(root, descriptor.entries, scratch);
      RC_ASSERT(match_path.size() == expected.size());
      for (std::size_t i = 0; i < match_path.size(); ++i) {
        RC_ASSERT(match_path[i].node->name() == naive::name_of(*expected[i].written));
        RC_ASSERT(match_path[i].shared == expected[i].shared);
        RC_ASSERT(match_path[i].entry == &descriptor.entries[i]);
      }
    }
  }
}

struct Quirks : ::testing::Test {
  EnvoyNode root;

  EnvoyNode& add(EnvoyNode& parent, Traits traits) {
    EnvoyNode* node = parent.add(std::move(traits));
    EXPECT_NE(node, nullptr);
    return *node;
  }
  // The names along the path, "-" when there is no match.
  std::string match_path(const std::vector<Attribute>& entries) const {
    std::string names;
    std::string scratch;
    for (const EnvoyStep& step : walk(root, entries, scratch)) {
      names += (names.empty() ? "" : " > ") + step.node->name() + (step.shared ? "!" : "");
    }
    return names.empty() ? "-" : names;
  }
  std::string metric(const std::vector<Attribute>& entries) const {
    std::string scratch;
    return metric_of("dom", walk(root, entries, scratch));
  }
};

TEST_F(Quirks, NameGoesBeforeWildcardGoesBeforeKeyAlone) {
  add(root, {.key = "k"});
  add(root, {.key = "k", .value = "v*"});
  add(root, {.key = "k", .value = "vv"});
  EXPECT_EQ(match_path({{"k", "vv"}}), "k_vv");
  EXPECT_EQ(match_path({{"k", "vx"}}), "k_v*");
  EXPECT_EQ(match_path({{"k", "x"}}), "k");
  EXPECT_EQ(match_path({{"other", "x"}}), "-");
}

TEST_F(Quirks, WildcardsAreTriedInDeclaredOrderNotByLength) {
  add(root, {.key = "k", .value = "a*"});
  add(root, {.key = "k", .value = "ab*"});
  EXPECT_EQ(match_path({{"k", "abc"}}), "k_a*");
}

TEST_F(Quirks, MatchingNeverBacktracks) {
  add(add(root, {.key = "k", .value = "v"}), {.key = "x", .value = "1"});
  add(add(root, {.key = "k"}), {.key = "x"});
  EXPECT_EQ(match_path({{"k", "v"}, {"x", "2"}}), "-");
  EXPECT_EQ(match_path({{"k", "w"}, {"x", "2"}}), "k > x");
}

TEST_F(Quirks, MoreEntriesThanLevelsMatchNothing) {
  add(root, {.key = "k"});
  EXPECT_EQ(match_path({{"k", "v"}, {"x", "1"}}), "-");
  EXPECT_EQ(match_path({}), "-");
}

TEST_F(Quirks, KeyWithUnderscoreIsAlsoAKeyAndItsValue) {
  add(root, {.key = "a_b"});
  EXPECT_EQ(match_path({{"a", "b"}}), "a_b");
  EXPECT_EQ(match_path({{"a_b", "c"}}), "a_b");
  EXPECT_EQ(root.add({.key = "a", .value = "b"}), nullptr);
}

TEST_F(Quirks, EmptyValueLooksForKeyUnderscoreThenKey) {
  add(root, {.key = "k"});
  EXPECT_EQ(match_path({{"k", ""}}), "k");
  add(root, {.key = "k_"});
  EXPECT_EQ(match_path({{"k", ""}}), "k_");
}

TEST_F(Quirks, StarInAKeyIsAWildcardToo) {
  add(root, {.key = "user*"});
  EXPECT_EQ(match_path({{"user_id", "7"}}), "user*");
}

TEST_F(Quirks, SharesOnlyWhatTheWildcardFoundNotItsOwnName) {
  add(root, {.key = "k", .value = "foo*", .share_threshold = true});
  EXPECT_EQ(match_path({{"k", "foobar"}}), "k_foo*!");
  EXPECT_EQ(match_path({{"k", "foo*"}}), "k_foo*");
}

TEST_F(Quirks, MetricFollowsTheConfiguration) {
  auto& wild = add(root, {.key = "wild", .value = "foo*"});
  add(wild, {.key = "sub"});
  EXPECT_EQ(metric({{"wild", "foobar"}}), "dom.wild_foo*");
  EXPECT_EQ(metric({{"wild", "foobar"}, {"sub", "7"}}), "dom.wild_foo*.sub");
}

TEST_F(Quirks, ValueToMetricPutsTheValueInAtThatLevel) {
  auto& route = add(root, {.key = "route", .value_to_metric = true});
  add(route, {.key = "user"});
  EXPECT_EQ(metric({{"route", "r1"}, {"user", "u"}}), "dom.route_r1.user");
  EXPECT_EQ(metric({{"route", ""}, {"user", "u"}}), "dom.route.user");
}

TEST_F(Quirks, DetailedMetricOfTheLastPutsAllValuesIn) {
  auto& route = add(root, {.key = "route", .detailed_metric = true});
  add(route, {.key = "user"});
  add(route, {.key = "app", .detailed_metric = true});
  EXPECT_EQ(metric({{"route", "r1"}, {"user", "u"}}), "dom.route.user");
  EXPECT_EQ(metric({{"route", "r1"}, {"app", "x"}}), "dom.route_r1.app_x");
}

TEST_F(Quirks, SharedThresholdKeepsThePatternInEveryMetric) {
  add(root, {.key = "k",
             .value = "v*",
             .share_threshold = true,
             .value_to_metric = true,
             .detailed_metric = true});
  EXPECT_EQ(metric({{"k", "value"}}), "dom.k_v*");
}

TEST(EnvoyTree, MetricOfARequestLimitHasItsEntries) {
  const std::vector<Attribute> entries{{"k", "v"}, {"empty", ""}};
  EXPECT_EQ(metric_of("dom", entries), "dom.k_v.empty");
}

}  // namespace
}  // namespace penstock::rules
