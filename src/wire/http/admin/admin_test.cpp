#include "wire/http/admin/admin.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace penstock::http {
namespace {

class TestDataSource final : public AdminDataSource {
 public:
  Readiness state{};
  rules::Rule rule{.domain = "api",
                   .name = "search",
                   .metric = "api/search",
                   .limits = {{.name = "minute", .quota = per_minute(600).burst(100)}},
                   .source = {.file = "rules.yaml", .line = 12}};
  std::string top_asked{};

  std::string metrics() override { return "up 1\n"; }
  Readiness readiness() override { return state; }
  LoadedRules rules() override {
    return {.files = {"rules.yaml"},
            .loaded_at = Instant{std::chrono::milliseconds{1500}},
            .rules = {&rule}};
  }
  std::vector<TopEntry> top(TopBy by, std::size_t count) override {
    top_asked = (by == TopBy::Asked ? "asked " : "denied ") + std::to_string(count);
    return {{.rule = "api/search", .subject = "api_key=abc", .asked = 9, .denied = 4}};
  }
};

class AdminPages : public testing::Test {
 protected:
  TestDataSource source_{};

  Response ask(std::string_view path, std::string_view query = {},
               std::string_view method = "GET") {
    Admin admin(source_);
    Request request;
    request.method = method;
    request.path = path;
    request.query = query;
    std::optional<Response> told;
    admin.handle(request, [&told](Response response) { told = std::move(response); });
    return told.value_or(Response{});
  }
};

TEST_F(AdminPages, MetricsAndHealthArePlainText) {
  EXPECT_EQ(ask("/metrics").body, "up 1\n");
  EXPECT_EQ(ask("/healthz").body, "ok\n");
  EXPECT_EQ(ask("/healthz", "", "HEAD").status, 200U);
}

TEST_F(AdminPages, StaysReadyWhenTheStoreOrAReloadFails) {
  EXPECT_EQ(ask("/readyz").body, "{\"ready\":true,\"reasons\":[]}\n");
  source_.state.store_error = "redis://a: unreachable";
  source_.state.reload_error = "rules.yaml:3:1: error: no";
  const Response response = ask("/readyz");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body,
            R"({"ready":true,"reasons":[{"kind":"store","detail":"redis://a: unreachable"},)"
            R"({"kind":"reload","detail":"rules.yaml:3:1: error: no"}]})"
            "\n");
}

TEST_F(AdminPages, StaysReadyWhenARollOutIsAborted) {
  source_.state.rollouts = {"api/search: 9% …"};
  const Response response = ask("/readyz");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body,
            "{\"ready\":true,\"reasons\":[{\"kind\":\"rollout\",\"detail\":"
            "\"api/search: 9% …\"}]}\n");
}

TEST_F(AdminPages, NotReadyWhileStopping) {
  source_.state.stopping = true;
  EXPECT_EQ(ask("/readyz").status, 503U);
  EXPECT_EQ(ask("/healthz").status, 200U);
}

TEST_F(AdminPages, RulesAreListedWithTheirSource) {
  EXPECT_EQ(ask("/rules").body,
            R"({"files":["rules.yaml"],"loaded_at_ms":1500,"rules":[{"domain":"api",)"
            R"("name":"search","action":"limit","limits":[{"name":"minute",)"
            R"("quota":"600/m burst 100","algorithm":"token_bucket"}],"mode":"exact",)"
            R"("on_failure":"open",)"
            R"("shadow":false,"metric":"api/search",)"
            R"("source":{"file":"rules.yaml","line":12}}]})"
            "\n");
  EXPECT_NE(ask("/rules", "domain=web").body.find("\"rules\":[]"), std::string::npos);
  EXPECT_EQ(ask("/rules", "domian=web").status, 400U);
}

TEST_F(AdminPages, RulesAreListedWithTheirModeAndItsSettings) {
  using core::Mode;
  const auto told_of = [this](core::SharingTerms terms) {
    source_.rule.terms = terms;
    const std::string body = ask("/rules").body;
    const std::size_t begin = body.find("\"mode\"");
    return body.substr(begin, body.find(",\"on_failure\"") - begin);
  };
  const Duration lifetime = std::chrono::milliseconds{250};
  for (const Mode mode : {Mode::Lease, Mode::LeaseStrict, Mode::Adaptive}) {
    EXPECT_EQ(told_of({.mode = mode, .lifetime = lifetime}),
              "\"mode\":\"" + std::string(to_string(mode)) + "\",\"lease_lifetime_ms\":250");
  }
  EXPECT_EQ(told_of({.mode = Mode::Local}), R"("mode":"local","share":"none")");
  EXPECT_EQ(told_of({.mode = Mode::Local, .divided = true}), R"("mode":"local","share":"nodes")");
  source_.rule.action = rules::Action::Deny;
  EXPECT_EQ(ask("/rules").body.find("\"mode\""), std::string::npos);
}

TEST_F(AdminPages, TopIsOrderedAndBounded) {
  EXPECT_EQ(ask("/top").body,
            R"({"by":"requests","entries":[{"rule":"api/search","subject":"api_key=abc",)"
            R"("requests":9,"denied":4}]})"
            "\n");
  EXPECT_EQ(source_.top_asked, "asked 20");
  EXPECT_EQ(ask("/top", "by=denied&n=5").status, 200U);
  EXPECT_EQ(source_.top_asked, "denied 5");
  EXPECT_EQ(ask("/top", "n=0").status, 400U);
  EXPECT_EQ(ask("/top", "n=1001").status, 400U);
  EXPECT_EQ(ask("/top", "by=name").status, 400U);
}

TEST_F(AdminPages, OtherPathsAndMethodsAreRejected) {
  EXPECT_EQ(ask("/").status, 404U);
  EXPECT_EQ(ask("/metrics", "", "POST").status, 405U);
}

}  // namespace
}  // namespace penstock::http
