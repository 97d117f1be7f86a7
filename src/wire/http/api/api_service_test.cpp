// The calls on real rules, a real service and a real store, which the other tests replace with
// tables.
#include "http/json.hpp"
#include "penstock/clock.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"
#include "wire/http/api/api.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>

namespace penstock::http {
namespace {

constexpr std::string_view kRules = R"(
maps:
  special: {values: {big: 50/minute fixed_window, free: unlimited}}
  tiers: {values: {gold-key: gold}}
  by-tier: {values: {gold: 70/minute fixed_window}}
domains:
  api:
    rules:
      - name: search
        when: {path: /v1/search/**}
        key: [api_key]
        if_missing: skip
        limit: 3/minute
        algorithm: fixed_window
      - name: everyone
        limit: 1000/s
  shop:
    attributes: {tier: {map: tiers, by: api_key}}
    rules:
      - name: orders
        when: {path: "/orders/{shop}"}
        key: [shop]
        limit: 3/minute fixed_window
        overrides: {map: special, by: shop}
      - name: carts
        key: [api_key]
        if_missing: skip
        limit: 3/minute fixed_window
        overrides: {map: by-tier, by: tier}
)";

class SilentEvents final : public service::Events {
 public:
  void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                     const Error* /*failure*/) override {}
  void on_answer(std::string_view /*domain*/, const service::Answer& /*answer*/) override {}
  void on_take(std::string_view /*subject*/, const Decision& /*decision*/) override {}
};

class HttpApiWithService : public testing::Test {
 protected:
  Response ask(std::string_view method, std::string_view target, std::string_view body = {}) {
    Request request;
    const std::size_t question = std::min(target.find('?'), target.size());
    request.method = method;
    request.path = target.substr(0, question);
    request.query = question < target.size() ? target.substr(question + 1) : "";
    request.body = body;
    std::optional<Response> told;
    api_.handle(request, [&told](Response response) { told = std::move(response); });
    EXPECT_TRUE(told.has_value());
    return told.value_or(Response{});
  }
  Response check(const std::string& path = "/v1/search/x") {
    return ask("POST", "/v1/check",
               R"({"domain":"api","attributes":{"path":")" + path + R"(","api_key":"abc"}})");
  }
  static Json read(const Response& response) { return parse_json(response.body).value(); }

  static std::shared_ptr<const rules::Ruleset> load() {
    rules::Loaded loaded = rules::load_text(kRules, "test.yaml");
    for (const rules::Diagnostic& diagnostic : loaded.diagnostics) {
      ADD_FAILURE() << to_string(diagnostic);
    }
    return loaded.configuration->rules;
  }

  ManualClock clock_{};
  store::ShardedTable memory_{{.clock = &clock_}};
  service::Membership members_{1};
  service::LocalFallback local_{memory_, members_};
  SilentEvents events_{};
  store::MemoryStore store_{memory_};
  service::LiveOverrides overrides_{};
  service::Service service_{{.stores = store_.stores(),
                             .local = local_,
                             .events = events_,
                             .clock = &clock_,
                             .overrides = &overrides_},
                            load()};
  Api api_{service_, {.headers = {rules::HeaderDraft::Draft08}}};
};

TEST_F(HttpApiWithService, UsageReadsEveryLimitAndChargesNone) {
  clock_.advance(std::chrono::seconds{15});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(check().status, 200U);
  const std::string target = "/v1/usage?domain=api&path=/v1/search/x&api_key=abc";
  const Response response = ask("GET", target);
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body,
            R"({"domain":"api","domain_known":true,"reason":"within_limits","limits":[)"
            R"({"rule":"api/search","subject":"api_key=abc","quota":"3/m fixed_window",)"
            R"("algorithm":"fixed_window","limit":3,"used":2,"remaining":1,"reset_after_ms":45000,)"
            R"("retry_after_ms":0,"burn_rate_per_s":0.134,"exhausted_after_ms":7500,)"
            R"("near_limit":false,"shadow":false},)"
            R"({"rule":"api/everyone","subject":"","quota":"1000/s","algorithm":"token_bucket",)"
            R"("limit":1000,"used":2,"remaining":998,"reset_after_ms":2,"retry_after_ms":0,)"
            R"("near_limit":false,"shadow":false}]})"
            "\n");
  EXPECT_EQ(ask("GET", target).body, response.body);
}

TEST_F(HttpApiWithService, ABlockOutlivesAnOverrideThatSetsTheLimitToZero) {
  const std::string key = "/v1/keys/api_key%3Dabc";
  ASSERT_EQ(
      ask("POST", "/v1/overrides", R"({"rule":"api/search","limit":"0/m","for":"1m"})").status,
      200U);
  EXPECT_EQ(ask("POST", key + "/block", R"({"domain":"api","for":"1h"})").status, 200U);
  const Response peeked = ask("GET", key + "?rule=api/search");
  EXPECT_EQ(peeked.status, 400U);
  EXPECT_NE(peeked.body.find("an override sets the limit to 0"), std::string::npos);
  EXPECT_EQ(ask("POST", key + "/refund", R"({"rule":"api/search"})").status, 400U);
  clock_.advance(std::chrono::minutes{1});
  EXPECT_EQ(read(check())["outcome"], "blocked");
  ASSERT_EQ(
      ask("POST", "/v1/overrides", R"({"rule":"api/search","limit":"0/m","for":"1m"})").status,
      200U);
  EXPECT_EQ(ask("POST", key + "/unblock", R"({"domain":"api"})").status, 200U);
  EXPECT_EQ(ask("DELETE", key + "?rule=api/search").status, 200U);
  clock_.advance(std::chrono::minutes{1});
  EXPECT_EQ(check().status, 200U);
}

TEST_F(HttpApiWithService, UsageNeedsADomainAndAttributesThatOccurOnce) {
  EXPECT_NE(ask("GET", "/v1/usage?user=a").body.find("domain: missing"), std::string::npos);
  EXPECT_EQ(ask("GET", "/v1/usage?domain=api&user=a&user=b").status, 400U);
  EXPECT_EQ(ask("GET", "/v1/usage?domain=api&domain=b").status, 400U);
  EXPECT_EQ(ask("GET", "/v1/usage?domain=api&user=%zz").status, 400U);
  std::string many = "/v1/usage?domain=api";
  for (int i = 0; i < 15; ++i) many += "&a" + std::to_string(i) + "=x";
  EXPECT_EQ(ask("GET", many).status, 200U);
  EXPECT_EQ(ask("GET", many + "&b=x").status, 400U);
  EXPECT_EQ(ask("POST", "/v1/usage?domain=api").status, 405U);
}

TEST_F(HttpApiWithService, DeniesTheFourthAndAdmitsAClientThatWaitsForRetryAfter) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(check().status, 200U);
  const Response refused = check();
  EXPECT_EQ(refused.status, 429U);
  EXPECT_EQ(check("/v2").status, 200U);
  std::string wait;
  for (const auto& [name, value] : refused.fields) {
    if (name == "Retry-After") wait = value;
  }
  ASSERT_FALSE(wait.empty());
  clock_.advance(std::chrono::seconds{std::stoll(wait)});
  EXPECT_EQ(check().status, 200U);
}

TEST_F(HttpApiWithService, KeyCallsActOnTheLimitsOfRules) {
  const std::string key = "/v1/keys/api_key%3Dabc";
  ASSERT_EQ(check().status, 200U);
  EXPECT_EQ(read(ask("GET", key + "?rule=api/search"))["remaining"], 2);
  EXPECT_EQ(read(ask("GET", key + "?domain=api"))["remaining"], 2);
  EXPECT_EQ(read(ask("POST", key + "/refund", R"({"rule":"api/search"})"))["remaining"], 3);
  EXPECT_EQ(read(ask("POST", key + "/block", R"({"for":"10m","domain":"api"})"))["was_blocked"],
            false);
  const Response blocked = check();
  EXPECT_EQ(blocked.status, 429U);
  EXPECT_EQ(read(blocked)["outcome"], "blocked");
  EXPECT_EQ(read(ask("POST", key + "/unblock", R"({"rule":"api/search"})"))["was_blocked"], true);
  EXPECT_EQ(check().status, 200U);
  EXPECT_EQ(read(ask("DELETE", key + "?rule=api/search"))["was_used"], true);
  EXPECT_EQ(read(ask("DELETE", key + "?rule=api/search"))["was_used"], false);
  EXPECT_EQ(ask("GET", key + "?rule=api/serach").status, 400U);
  EXPECT_EQ(ask("GET", key + "?domain=apii").status, 400U);
  EXPECT_EQ(ask("GET", "/v1/keys/user=1?domain=api").status, 400U);
}

TEST_F(HttpApiWithService, KeysWithAnOverrideUseTheirOwnQuota) {
  const auto order = [&](const std::string& shop) {
    return ask("POST", "/v1/check",
               R"({"domain":"shop","attributes":{"path":"/orders/)" + shop + R"("}})");
  };
  ASSERT_EQ(order("big").status, 200U);
  ASSERT_EQ(order("small").status, 200U);
  const auto remaining = [&](const std::string& key, const std::string& rule) {
    return read(ask("GET", "/v1/keys/" + key + "?rule=shop/" + rule))["remaining"];
  };
  EXPECT_EQ(remaining("shop=big", "orders"), 49);
  EXPECT_EQ(remaining("shop=small", "orders"), 2);
  EXPECT_EQ(read(ask("POST", "/v1/keys/shop=big/refund", R"({"rule":"shop/orders"})"))["remaining"],
            50);
  EXPECT_EQ(read(order("big"))["remaining"], 49);
  EXPECT_EQ(remaining("api_key=gold-key", "carts"), 70);
  EXPECT_EQ(remaining("api_key=other", "carts"), 3);
  const Response unlimited = ask("GET", "/v1/keys/shop=free?rule=shop/orders");
  EXPECT_EQ(unlimited.status, 400U);
  EXPECT_NE(unlimited.body.find("sets no limit for"), std::string::npos) << unlimited.body;
}

TEST_F(HttpApiWithService, TakeCountsAsTheLibraryDoes) {
  const std::string body = R"({"key":"user:1","limit":"2/m fixed_window"})";
  EXPECT_EQ(ask("POST", "/v1/take", body).status, 200U);
  EXPECT_EQ(memory_.check("user:1", per_minute(2).fixed_window(), Cost{1}).remaining(), 0U);
  EXPECT_EQ(ask("POST", "/v1/take", body).status, 429U);
}

TEST_F(HttpApiWithService, CountersAddUp) {
  EXPECT_EQ(read(ask("POST", "/v1/counters/n", R"({"add":2})"))["integer"], 2);
  EXPECT_EQ(read(ask("POST", "/v1/counters/n", R"({"add":"0.1"})"))["decimal"], "0.1");
  EXPECT_EQ(read(ask("POST", "/v1/counters/n", R"({"add":"0.2"})"))["decimal"], "0.3");
  EXPECT_EQ(ask("GET", "/v1/counters/n").body,
            "{\"name\":\"n\",\"integer\":2,\"decimal\":\"0.3\"}\n");
  EXPECT_EQ(ask("POST", "/v1/counters/n", R"({"add":9223372036854775807})").status, 409U);
  EXPECT_EQ(read(ask("DELETE", "/v1/counters/n"))["existed"], true);
}

TEST_F(HttpApiWithService, ExplainDoesNotChargeAndNamesEveryRule) {
  const std::string body = R"({"domain":"api","attributes":{"path":"/v2","api_key":"abc"}})";
  const Json explained = read(ask("POST", "/v1/explain", body));
  ASSERT_EQ(explained["rules"].size(), 2U);
  EXPECT_EQ(explained["rules"][0]["rule"], "api/search");
  EXPECT_EQ(explained["rules"][0]["matched"], false);
  EXPECT_EQ(explained["rules"][1]["matched"], true);
  EXPECT_EQ(explained["decision"]["remaining"], 1000);
}

TEST_F(HttpApiWithService, BatchIsDecidedOneByOne) {
  std::string body = "[";
  for (int i = 0; i < 5; ++i) {
    body += std::string(i == 0 ? "" : ",") +
            R"({"domain":"api","attributes":{"path":"/v1/search/x","api_key":"abc"}})";
  }
  const Json answers = read(ask("POST", "/v1/checks", body + "]"))["answers"];
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[2]["allowed"], true);
  EXPECT_EQ(answers[3]["allowed"], false);
}

}  // namespace
}  // namespace penstock::http
