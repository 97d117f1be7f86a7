#include "apps/penstock/text/explain_text.hpp"

#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace penstock::app {
namespace {

using std::chrono::seconds;

const char* const kRules = R"(
domains:
  api:
    deny: [{name: banned, when: {client_ip: 192.0.2.66}}]
    allow: [{name: probes, when: {client_ip: 192.0.2.1}}]
    rules:
      - {name: search, when: {path: /search}, key: [user], limit: 3/minute}
      - {name: trial, when: {path: /search}, limit: 1/hour, shadow: true}
      - {name: leased, when: {path: /leased}, limit: 9/s, mode: lease}
      - {name: own, when: {path: /leased}, limit: 8/s, mode: local, share: nodes}
      - {name: smooth, when: {path: /most}, limit: 100/minute, burst: 1}
      - {name: bucket, when: {path: /most}, limit: 100/minute}
      - {name: gcra, when: {path: /most}, limit: 100/minute burst 20 gcra}
      - {name: window, when: {path: /most}, limit: 100/minute fixed_window}
      - {name: keyed, when: {path: /keyed}, key: [api_key], limit: 1/s, if_missing: deny}
)";

// The text for a request, given the decisions of its limits.
class ExplainText : public testing::Test {
 protected:
  void ask(std::string_view domain, std::vector<rules::Attribute> attributes, Cost cost = {}) {
    request_ = {
        .domain = domain, .descriptors = {{.entries = std::move(attributes)}}, .cost = cost};
    explanation_ = rules_->explain(request_);
  }

  [[nodiscard]] Explained explained() const {
    return {.request = &request_, .explanation = &explanation_, .decisions = decisions_};
  }
  [[nodiscard]] std::string text() const { return as_text(report_of(explained()), Colour::Never); }
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(as_json(explained())); }
  [[nodiscard]] bool says(std::string_view words) const {
    return text().find(words) != std::string::npos;
  }

  std::shared_ptr<const rules::Ruleset> rules_ =
      rules::load_text(kRules, "test.yaml").configuration->rules;
  rules::Request request_{};
  rules::Explanation explanation_{};
  std::vector<Decision> decisions_{};
};

TEST_F(ExplainText, ShowsTheMaximumInAnyPeriod) {
  ask("api", {{"path", "/most"}});
  EXPECT_TRUE(
      says("up to 199 in any 1 min: 100 at once, and those that refill; burst: 1 admits at "
           "an even rate\n"))
      << text();
  EXPECT_TRUE(says("up to 119 in any 1 min: 20 at once"));
  EXPECT_TRUE(says("up to 200 in any 1 min: the end of one window and the beginning of the next"));
  EXPECT_FALSE(says("up to 100 in any"));
  const nlohmann::json limits = json()["limits"];
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0]["max_in_period"], 100);
  EXPECT_EQ(limits[1]["max_in_period"], 199);
}

TEST_F(ExplainText, ARequestWithoutTheKeyOfARuleThatDeniesIt) {
  ask("api", {{"path", "/keyed"}});
  EXPECT_TRUE(
      says("  + keyed (test.yaml:15): denies the request: api_key is absent (if_missing: deny)\n"))
      << text();
  EXPECT_TRUE(says("Denied by keyed: an attribute of its key is missing."));
  EXPECT_FALSE(would_pass(explained()));
  EXPECT_EQ(json()["missing_by"], "keyed");
}

TEST_F(ExplainText, NamesRulesWithTheirReasonsAndLimitsWithTheirNames) {
  ask("api", {{"path", "/search"}, {"user", "7"}});
  EXPECT_TRUE(says("  + search"));
  EXPECT_TRUE(says("api/search: 3/m, counted for user=7, takes 1\n"));
  EXPECT_TRUE(says("api/trial: 1/h, counted for all clients, takes 1, shadow: not enforced\n"));
  ask("api", {{"path", "/else"}});
  EXPECT_TRUE(says("  - search (test.yaml:7): "));
  EXPECT_TRUE(says("No limit applies: the request passes."));
}

TEST_F(ExplainText, ShowsTheFileAndLineOfEachRule) {
  ask("api", {{"path", "/search"}, {"user", "7"}});
  EXPECT_TRUE(says("  + search (test.yaml:7): applies\n")) << text();
  EXPECT_TRUE(says("  - keyed (test.yaml:15): "));
  EXPECT_EQ(json()["rules"][2]["source"]["file"], "test.yaml");
  EXPECT_EQ(json()["rules"][2]["source"]["line"], 7);
}

TEST_F(ExplainText, NamesTheModeOfALimitUnlessItIsExact) {
  ask("api", {{"path", "/leased"}});
  EXPECT_TRUE(says("api/leased: 9/s, counted for all clients, takes 1, lease: leases of 100 ms\n"));
  EXPECT_TRUE(says("api/own: 8/s, counted for all clients, takes 1, local: this node's share\n"));
  EXPECT_EQ(json()["limits"][0]["mode"], "lease");
  EXPECT_EQ(json()["limits"][0]["lease_lifetime_ms"], 100);
  EXPECT_EQ(json()["limits"][1]["share"], "nodes");
  ask("api", {{"path", "/search"}, {"user", "7"}});
  EXPECT_EQ(json()["limits"][0]["mode"], "exact");
}

TEST_F(ExplainText, ShowsNoUsageThatWasNotRead) {
  ask("api", {{"path", "/search"}, {"user", "7"}});
  EXPECT_TRUE(says("Usage was not read"));
  EXPECT_FALSE(says("would"));
  EXPECT_FALSE(json().contains("allowed"));
  EXPECT_FALSE(json()["limits"][0].contains("remaining"));
}

TEST_F(ExplainText, ShowsTheCurrentUsageOfEveryLimit) {
  ask("api", {{"path", "/search"}, {"user", "7"}});
  decisions_ = {Decision::allow(3, 2, seconds{20}), Decision::allow(1, 1, seconds{0})};
  EXPECT_TRUE(would_pass(explained()));
  EXPECT_TRUE(says("now: 2 of 3 left, all free in 20 s: would pass\n"));
  EXPECT_TRUE(says("The request would pass."));
  EXPECT_EQ(json()["allowed"], true);
  EXPECT_EQ(json()["limits"][0]["remaining"], 2);
}

TEST_F(ExplainText, OneLimitThatDeniesIsEnough) {
  ask("api", {{"path", "/search"}, {"user", "7"}});
  decisions_ = {Decision::block(3, seconds{60}), Decision::allow(1, 1, seconds{0})};
  EXPECT_FALSE(would_pass(explained()));
  EXPECT_TRUE(says("blocked by hand"));
  EXPECT_TRUE(says("The request would be denied."));
  EXPECT_EQ(json()["allowed"], false);
  EXPECT_EQ(json()["limits"][0]["would_deny"], true);
}

TEST_F(ExplainText, ACostAboveWhatRemainsIsDenied) {
  ask("api", {{"path", "/search"}, {"user", "7"}}, Cost{3});
  decisions_ = {Decision::allow(3, 2, seconds{20}), Decision::allow(1, 1, seconds{0})};
  EXPECT_FALSE(would_pass(explained()));
}

TEST_F(ExplainText, ShadowLimitsDenyNothing) {
  ask("api", {{"path", "/search"}, {"user", "7"}});
  decisions_ = {Decision::allow(3, 2, seconds{20}), Decision::deny(1, 0, seconds{9}, seconds{9})};
  EXPECT_TRUE(would_pass(explained()));
  EXPECT_EQ(json()["limits"][1]["would_deny"], false);
}

TEST_F(ExplainText, ListsSettleARequest) {
  ask("api", {{"client_ip", "192.0.2.66"}, {"path", "/search"}, {"user", "7"}});
  EXPECT_FALSE(would_pass(explained()));
  EXPECT_TRUE(says("On the deny list: banned"));
  EXPECT_EQ(json()["listed_by"], "banned");
  EXPECT_EQ(json()["allowed"], false);
  ask("api", {{"client_ip", "192.0.2.1"}, {"path", "/search"}, {"user", "7"}});
  EXPECT_TRUE(would_pass(explained()));
  EXPECT_TRUE(says("On the allow list: probes"));
}

TEST_F(ExplainText, NothingLimitsADomainThatIsNotThere) {
  ask("nowhere", {});
  EXPECT_EQ(text(), "There is no domain \"nowhere\": nothing limits the request.");
  EXPECT_EQ(json()["domain_known"], false);
  EXPECT_TRUE(would_pass(explained()));
}

TEST_F(ExplainText, BytesThatJsonCannotHoldDoNotEndTheProgram) {
  ask("api", {{"path", "/search"}, {"user", "\xff"}});
  EXPECT_EQ(json()["limits"].size(), 2U);
}

}  // namespace
}  // namespace penstock::app
