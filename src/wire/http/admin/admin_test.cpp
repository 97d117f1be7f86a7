#include "wire/http/admin/admin.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace penstock::http {
namespace {

class TestDataSource final : public AdminDataSource {
 public:
  Readiness ready{};
  rules::Rule rule{.domain = "api",
                   .name = "search",
                   .metric = "api/search",
                   .limits = {{.name = "minute", .quota = per_minute(600).burst(100)}},
                   .source = {.file = "rules.yaml", .line = 12}};
  std::string top_asked{};

  std::string metrics() override { return "up 1\n"; }
  Readiness readiness() override { return ready; }
  LoadedRules rules(DataScope scope) override {
    LoadedRules loaded{.files = {"rules.yaml"},
                       .loaded_at = Instant{std::chrono::milliseconds{1500}},
                       .rules = {&rule},
                       .is_fleet = scope == DataScope::Fleet};
    RuleStats& stats = loaded.stats["api/search"];
    stats.recent.denied_per_s = 2.5;
    stats.recent.denied.back() = 7;
    stats.subjects_denied.add("a");
    return loaded;
  }
  TopReport top(const TopQuery& query) override {
    top_asked = (query.by == TopBy::Asked    ? "asked "
                 : query.by == TopBy::Denied ? "denied "
                                             : "new ") +
                std::to_string(query.count) + query.rule;
    return {.entries = {{.rule = "api/search",
                         .subject = "api_key=abc",
                         .asked = 9,
                         .denied = 4,
                         .first_denied = Instant{std::chrono::milliseconds{2500}}}},
            .all_denied = 16};
  }
  StateReport state() override {
    ++states;
    StateReport report{.now = Instant{std::chrono::seconds{9}}};
    report.nodes.push_back({.node = "a/1/2", .seen_at = Instant{std::chrono::seconds{8}}});
    return report;
  }
  HistoryReport history(telemetry::History::Span span, DataScope /*scope*/) override {
    const bool is_hour = span == telemetry::History::Span::Hour;
    HistoryReport report{.now = Instant{std::chrono::seconds{103}}};
    report.series = {.step = std::chrono::seconds{is_hour ? 10 : 1},
                     .from = Instant{std::chrono::seconds{100}},
                     .steps = {{.admitted = 1}, {.admitted = 2, .denied = 5}}};
    report.marks = {{.at = Instant{std::chrono::seconds{101}}, .text = "<script>", .node = "a"}};
    return report;
  }
  Promises promises() override { return {.modes = {{.mode = "exact", .bound = "b", .rules = 2}}}; }
  std::vector<telemetry::DeniedSubject> denials_of(std::string_view subject) override {
    return {{.key = "api/search " + std::string(subject),
             .first = Instant{std::chrono::seconds{50'592}},
             .last = Instant{std::chrono::seconds{50'600}},
             .count = 3}};
  }
  std::vector<rules::Token> tokens() override { return {{.name = "alice", .secret = "sesame"}}; }
  std::string admin_host() override { return "limits.internal"; }
  DataScope default_scope() override { return DataScope::Node; }
  void call_api(const Request& request, Handler::Respond respond) override {
    called.push_back(std::string(request.method) + " " + std::string(request.path) + "?" +
                     std::string(request.query));
    respond(request.path == "/v1/usage" ? Response{.status = 404} : api_answer);
  }
  int states = 0;
  std::vector<std::string> called{};
  Response api_answer{.body = "{}"};
};

class AdminPages : public testing::Test {
 protected:
  TestDataSource source_{};

  Admin admin_{source_};
  bool on_loopback_ = true;
  std::vector<Field> fields_{{"Host", "127.0.0.1:9090"}};

  // Not from the cache.
  Response ask(std::string_view path, std::string_view query = {},
               std::string_view method = "GET") {
    Admin admin(source_);
    return ask(admin, path, query, method);
  }
  Response ask(Admin& admin, std::string_view path, std::string_view query = {},
               std::string_view method = "GET") {
    Request request;
    request.fields = fields_;
    request.listens_on_loopback = on_loopback_;
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
  source_.ready.store_error = "redis://a: unreachable";
  source_.ready.reload_error = "rules.yaml:3:1: error: no";
  const Response response = ask("/readyz");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body,
            R"({"ready":true,"reasons":[{"kind":"store","detail":"redis://a: unreachable"},)"
            R"({"kind":"reload","detail":"rules.yaml:3:1: error: no"}]})"
            "\n");
}

TEST_F(AdminPages, StaysReadyWhenARollOutIsAborted) {
  source_.ready.rollouts = {"api/search: 9% …"};
  const Response response = ask("/readyz");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body,
            "{\"ready\":true,\"reasons\":[{\"kind\":\"rollout\",\"detail\":"
            "\"api/search: 9% …\"}]}\n");
}

TEST_F(AdminPages, NotReadyWhileStopping) {
  source_.ready.stopping = true;
  EXPECT_EQ(ask("/readyz").status, 503U);
  EXPECT_EQ(ask("/healthz").status, 200U);
}

TEST_F(AdminPages, RulesAreListedWithTheirSource) {
  EXPECT_EQ(
      ask("/rules").body,
      R"({"files":["rules.yaml"],"loaded_at_ms":1500,"rules":[{"domain":"api",)"
      R"("name":"search","action":"limit","limits":[{"name":"minute",)"
      R"("quota":"600/m burst 100","algorithm":"token_bucket"}],"mode":"exact",)"
      R"("on_failure":"open",)"
      R"("shadow":false,"metric":"api/search",)"
      R"("source":{"file":"rules.yaml","line":12},"admitted_per_s":0.0,"denied_per_s":2.5,)"
      R"("shadow_denied_per_s":0.0,"denied_recent":[)" +
          [] {
            std::string zeros;
            for (int i = 0; i < 59; ++i) zeros += "0,";
            return zeros;
          }() +
          R"(7],"subjects_denied":1,"fleet":false}]})"
          "\n");
  EXPECT_NE(ask("/rules", "scope=fleet").body.find("\"fleet\":true"), std::string::npos);
  EXPECT_EQ(ask("/rules", "scope=all").status, 400U);
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
            R"("requests":9,"denied":4,"share":0.25,"first_denied_ms":2500}]})"
            "\n");
  EXPECT_EQ(source_.top_asked, "asked 20");
  EXPECT_EQ(ask("/top", "by=denied&n=5").status, 200U);
  EXPECT_EQ(source_.top_asked, "denied 5");
  EXPECT_EQ(ask("/top", "by=new&rule=api%2Fsearch").status, 200U);
  EXPECT_EQ(source_.top_asked, "new 20api/search");
  EXPECT_EQ(ask("/top", "n=0").status, 400U);
  EXPECT_EQ(ask("/top", "n=1001").status, 400U);
  EXPECT_EQ(ask("/top", "by=name").status, 400U);
}

TEST_F(AdminPages, HistoryHasOnlyTheStepsAfterAnInstant) {
  EXPECT_EQ(ask("/history").body,
            R"({"step_ms":1000,"from_ms":100000,"now_ms":103000,"admitted":[1,2],"denied":[0,5],)"
            R"("shadow_denied":[0,0],"without_store":[0,0],"marks":[{"at_ms":101000,)"
            R"("kind":"start","text":"<script>","node":"a"}]})"
            "\n");
  EXPECT_EQ(ask("/history", "span=1h&since_ms=110000").body,
            R"({"step_ms":10000,"from_ms":110000,"now_ms":103000,"admitted":[2],"denied":[5],)"
            R"("shadow_denied":[0],"without_store":[0],"marks":[]})"
            "\n");
  EXPECT_EQ(ask("/history", "span=2h").status, 400U);
}

TEST_F(AdminPages, SeveralPagesCostWhatOneDoes) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(admin_, "/state").status, 200U);
  EXPECT_EQ(source_.states, 1);
  for (int i = 0; i < 200; ++i) ask(admin_, "/top", "n=" + std::to_string(i + 1));
  ask(admin_, "/state");
  EXPECT_LE(source_.states, 2);
}

TEST_F(AdminPages, AuthorizationIsNeededBeyondLoopback) {
  const std::vector<std::string_view> open{"/metrics", "/healthz", "/readyz", "/"};
  const std::vector<std::string_view> closed{
      "/state",      "/history",   "/rules",        "/top",        "/promises", "/subject",
      "/v1/explain", "/v1/keys/a", "/v1/overrides", "/v1/actions", "/v1/usage", "/none"};
  struct Matrix {
    bool on_loopback;
    std::vector<Field> fields;
    unsigned status;  // of closed pages; 0: not rejected
  };
  const std::vector<Matrix> cases{
      {true, {{"Host", "127.0.0.1:9090"}}, 0},
      {true, {{"Host", "limits.internal:9090"}}, 0},
      {true, {{"Host", "evil.example:9090"}}, 403},
      {true, {{"Host", "evil.example"}, {"Authorization", "Bearer sesame"}}, 0},
      {true, {{"Host", "127.0.0.1"}, {"Authorization", "Bearer wrong"}}, 401},
      {false, {{"Host", "10.0.0.1:9090"}}, 401},
      {false, {{"Host", "10.0.0.1:9090"}, {"Authorization", "Bearer wrong"}}, 401},
      {false, {{"Host", "10.0.0.1:9090"}, {"Authorization", "Bearer sesame"}}, 0}};
  for (const Matrix& each : cases) {
    on_loopback_ = each.on_loopback;
    fields_ = each.fields;
    for (const auto path : open) EXPECT_EQ(ask(path).status, 200U) << path;
    for (const auto path : closed) {
      const unsigned status = ask(path).status;
      const bool is_rejected = status == 401 || status == 403;
      EXPECT_EQ(is_rejected ? status : 0U, each.status) << path;
    }
  }
}

TEST_F(AdminPages, CallsForOperatorsGoToTheApi) {
  EXPECT_EQ(ask("/v1/keys/user%3D42/block", "", "POST").status, 200U);
  EXPECT_EQ(source_.called, std::vector<std::string>{"POST /v1/keys/user%3D42/block?"});
  EXPECT_EQ(ask("/v1/check", "", "POST").status, 404U);
  EXPECT_EQ(ask("/v1/counters/a").status, 404U);
}

TEST_F(AdminPages, ASubjectIsDescribedInOneSentence) {
  source_.api_answer.body =
      R"({"limits":[{"rule":"api/search","limit":5,"remaining":0,"retry_after_ms":20500,"reset_after_ms":60000}]})";
  EXPECT_EQ(
      ask("/subject", "domain=api&subject=user%3D%3Cscript%3E").body,
      R"({"domain":"api","subject":"user=<script>","sentence":"denied by api/search since )"
      R"(14:03:12, next request passes in 21 s","limits":[{"rule":"api/search","limit":5,)"
      R"("remaining":0,"retry_after_ms":20500,"reset_after_ms":60000,"used":5,"shadow":false}],)"
      R"("overrides":[],"recent_denials":[{"rule":"api/search","first_ms":50592000,)"
      R"("last_ms":50600000,"count":3}]})"
      "\n");
  EXPECT_EQ(source_.called.back(), "GET /v1/keys/user%3D%3Cscript%3E?domain=api");
  EXPECT_EQ(ask("/subject", "domain=api").status, 400U);
}

TEST_F(AdminPages, StaticFilesHaveAStrictPolicyAndAnEtag) {
  const Response page = ask("/");
  EXPECT_EQ(page.status, 200U);
  std::string etag;
  std::string policy;
  for (const auto& [name, value] : page.fields) {
    if (name == "ETag") etag = value;
    if (name == "Content-Security-Policy") policy = value;
  }
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'"));
  fields_.push_back({"If-None-Match", etag});
  EXPECT_EQ(ask("/").status, 304U);
  EXPECT_EQ(ask("/", "", "POST").status, 405U);
}

TEST_F(AdminPages, OtherPathsAndMethodsAreRejected) {
  EXPECT_EQ(ask("/none").status, 404U);
  EXPECT_EQ(ask("/../etc/passwd").status, 404U);
  EXPECT_EQ(ask("/metrics", "", "POST").status, 405U);
  EXPECT_EQ(ask("/state", "", "POST").status, 405U);
}

}  // namespace
}  // namespace penstock::http
