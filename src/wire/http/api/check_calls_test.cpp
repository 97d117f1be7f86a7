#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

using std::chrono::milliseconds;

class CheckCalls : public ApiTest {};

const Decision kWithin = Decision::allow(100, 99, milliseconds{100});
const Decision kOver = Decision::deny(100, 0, milliseconds{10'000}, milliseconds{1'100});

TEST_F(CheckCalls, AllowedResponseHasLimitAndRemaining) {
  backend_.next = answer_of(kWithin);
  const Response response =
      ask("POST", "/v1/check",
          R"({"domain":"api","attributes":{"method":"GET","api_key":"abc"},"cost":3})");
  EXPECT_EQ(backend_.asked, std::vector<std::string>{"api x3 [method=GET api_key=abc]"});
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(field(response, "Content-Type"), "application/json");
  EXPECT_EQ(field(response, "X-RateLimit-Remaining"), "99");
  EXPECT_EQ(response.body,
            R"({"allowed":true,"reason":"within_limits","outcome":"allowed","rule":"api/search",)"
            R"("limit":100,"remaining":99,"retry_after_ms":0,"reset_after_ms":100,"limits":[)"
            R"({"rule":"api/search","subject":"api_key=abc","quota":"600/m burst 100",)"
            R"("outcome":"allowed","limit":100,"remaining":99,"retry_after_ms":0,)"
            R"("reset_after_ms":100,"descriptor":0}]})"
            "\n");
}

TEST_F(CheckCalls, DenialIsAProblemThatCarriesTheDecision) {
  backend_.next = answer_of(kOver);
  const Response response = ask("POST", "/v1/check", R"({"domain":"api","attributes":{}})");
  EXPECT_EQ(response.status, 429U);
  EXPECT_EQ(field(response, "Content-Type"), "application/problem+json");
  EXPECT_EQ(field(response, "Cache-Control"), "no-store");
  EXPECT_EQ(field(response, "Retry-After"), "2");
  EXPECT_EQ(response.body,
            R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
            R"("title":"Quota Exceeded","status":429,)"
            R"("detail":"search (600/m burst 100) has 0 left; try again in 2 s",)"
            R"("violated-policies":["search"],"allowed":false,"reason":"over_limit",)"
            R"("outcome":"denied","rule":"api/search","limit":100,"remaining":0,)"
            R"("retry_after_ms":1100,"reset_after_ms":10000,"limits":[)"
            R"({"rule":"api/search","subject":"api_key=abc","quota":"600/m burst 100",)"
            R"("outcome":"denied","limit":100,"remaining":0,"retry_after_ms":1100,)"
            R"("reset_after_ms":10000,"descriptor":0}]})"
            "\n");
}

TEST_F(CheckCalls, CostThatNeverFitsHasNoTimeToRetry) {
  backend_.next = answer_of(Decision::never_fits(100, 100, milliseconds{0}));
  const Response response = ask("POST", "/v1/check", R"({"domain":"api","attributes":{}})");
  EXPECT_EQ(response.status, 429U);
  EXPECT_EQ(field(response, "Retry-After"), "");
  EXPECT_NE(response.body.find("\"retry_after_ms\":null"), std::string::npos);
  EXPECT_NE(response.body.find("\"outcome\":\"never_fits\""), std::string::npos);
}

TEST_F(CheckCalls, DenyListIsForbiddenAndHasNoTimeToRetry) {
  backend_.next.allowed = false;
  backend_.next.reason = service::Reason::DenyListed;
  backend_.next.match.domain_known = true;
  const Response response = ask("POST", "/v1/check", R"({"domain":"api","attributes":{}})");
  EXPECT_EQ(response.status, 403U);
  EXPECT_EQ(field(response, "Retry-After"), "");
  EXPECT_EQ(response.body,
            R"({"type":"about:blank","title":"Forbidden","status":403,)"
            R"("detail":"denied by a deny list","allowed":false,"reason":"deny_listed",)"
            R"("outcome":"denied","limits":[]})"
            "\n");
}

TEST_F(CheckCalls, UnavailableStoreIsNotReportedAsADenial) {
  backend_.next = answer_of(kOver);
  backend_.next.reason = service::Reason::FailedClosed;
  backend_.next.limits[0].decision.reset();
  backend_.next.strictest.reset();
  rule_.on_failure = rules::OnFailure::Closed;
  const rules::Rule open{.domain = "api", .name = "open", .limits = rule_.limits};
  backend_.next.limits.push_back(backend_.next.limits[0]);
  backend_.next.limits[1].matched.rule = &open;
  const Response response = ask("POST", "/v1/check", R"({"domain":"api","attributes":{}})");
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(field(response, "Retry-After"), "1");
  EXPECT_NE(response.body.find("#temporary-reduced-capacity"), std::string::npos);
  EXPECT_NE(response.body.find(R"("violated-policies":["search"])"), std::string::npos);
}

TEST_F(CheckCalls, ShadowLimitIsReportedInTheBodyOnly) {
  backend_.next = answer_of(kOver);
  backend_.next.allowed = true;
  backend_.next.reason = service::Reason::WithinLimits;
  backend_.next.limits[0].shadow = true;
  backend_.next.strictest.reset();
  const Response response = ask("POST", "/v1/check", R"({"domain":"api","attributes":{}})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(field(response, "X-RateLimit-Remaining"), "");
  EXPECT_NE(response.body.find("\"shadow\":true"), std::string::npos);
}

TEST_F(CheckCalls, UnknownDomainIsAllowedWithAWarning) {
  const Response response = ask("POST", "/v1/check", R"({"domain":"apii","attributes":{}})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body, R"({"allowed":true,"reason":"no_rule","outcome":"allowed","limits":[],)"
                           R"("warning":"no rules are loaded for domain \"apii\""})"
                           "\n");
}

TEST_F(CheckCalls, DescriptorsCarryTheirOwnCostAndLimit) {
  const Response response = ask(
      "POST", "/v1/check",
      R"({"domain":"api","descriptors":[{"entries":[{"key":"a","value":"1"},{"key":"b"}],"cost":5},)"
      R"({"entries":[{"key":"c","value":"2"}],"limit":"10/s","burst":3}]})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(backend_.asked, std::vector<std::string>{"api x1 [a=1 b=] x5 [c=2] 10/s burst 3"});
}

struct Bad {
  std::string_view body;
  std::string_view detail;
};

TEST_F(CheckCalls, ErrorNamesTheValueAndItsPath) {
  const std::vector<Bad> cases{
      {"", "body: empty; expected JSON"},
      {"[]", "body: [] must be an object"},
      {R"({"attributes":{}})", "domain: missing"},
      {R"({"domain":"","attributes":{}})", "domain: must not be empty"},
      {R"({"domain":7,"attributes":{}})", "domain: 7 must be a text"},
      {R"({"domain":"a"})", "attributes: missing; or give descriptors"},
      {R"({"domain":"a","descriptors":[]})", "attributes: missing; or give descriptors"},
      {R"({"domain":"a","attributes":{},"descriptors":[]})",
       "descriptors: not allowed with attributes"},
      {R"({"domain":"a","attributes":{"tier":5}})", "attributes.tier: 5 must be a text"},
      {R"({"domain":"a","attributes":{},"cost":-1})",
       "cost: -1 must be a whole number from 0 to 4294967295"},
      {R"({"domain":"a","attributes":{},"costs":1})",
       "costs: unknown member; did you mean 'cost'?"},
      {R"({"domain":"a","descriptors":[{"entries":[]}]})",
       "descriptors[0].entries: must not be empty"},
      {R"({"domain":"a","descriptors":[{"entries":[{"key":""}]}]})",
       "descriptors[0].entries[0].key: must not be empty"},
      {R"({"domain":"a","descriptors":[{"entries":[{"key":"k"}]},{"entries":[{"key":"k"}],"cost":"x"}]})",
       "descriptors[1].cost: \"x\" must be a whole number from 0 to 4294967295"},
      {R"({"domain":"a","descriptors":[{"entries":[{"key":"k"}],"limit":"5"}]})",
       "descriptors[0].limit: \"5\", column 2: expected \"/\" and a period, as in 100/minute, "
       "found the end"},
  };
  for (const Bad& bad : cases) {
    for (const std::string_view path : {"/v1/check", "/v1/explain"}) {
      const Response response = ask("POST", path, bad.body);
      EXPECT_EQ(response.status, 400U) << bad.body;
      EXPECT_EQ(response.body.find(R"({"type":"about:blank","title":"Bad Request",)"), 0U);
      std::string escaped(bad.detail);
      for (std::size_t at = 0; (at = escaped.find('"', at)) != std::string::npos; at += 2) {
        escaped.insert(at, "\\");
      }
      EXPECT_NE(response.body.find("\"detail\":\"" + escaped + "\""), std::string::npos)
          << response.body;
    }
  }
  EXPECT_TRUE(backend_.asked.empty());
}

TEST_F(CheckCalls, BatchAnswersInTheOrderOfTheQuestions) {
  backend_.hold = true;
  Request request;
  request.method = "POST";
  request.path = "/v1/checks";
  request.body =
      R"({"checks":[{"domain":"a","attributes":{}},{"domain":"b","attributes":{},"cost":2}]})";
  Api api(backend_, settings_);
  std::optional<Response> told;
  api.handle(request, [&told](Response response) { told = std::move(response); });
  ASSERT_EQ(backend_.waiting.size(), 2U) << "both are started before the first response";
  backend_.waiting[1](answer_of(kOver));
  EXPECT_FALSE(told.has_value());
  backend_.waiting[0](answer_of(kWithin));
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->status, 200U);
  const std::size_t first = told->body.find("\"allowed\":true");
  const std::size_t second = told->body.find("\"allowed\":false");
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
}

TEST_F(CheckCalls, BatchIsBoundedAndRejectedAsAWhole) {
  EXPECT_EQ(ask("POST", "/v1/checks", R"([{"domain":"a","attributes":{}}])").status, 200U);
  backend_.asked.clear();
  EXPECT_EQ(ask("POST", "/v1/checks", "[]").status, 400U);
  std::string many = "[";
  for (int i = 0; i < 1001; ++i) many += (i == 0 ? "" : ",") + std::string("{}");
  EXPECT_EQ(ask("POST", "/v1/checks", many + "]").status, 400U);
  const Response response =
      ask("POST", "/v1/checks", R"([{"domain":"a","attributes":{}},{"domain":"a"}])");
  EXPECT_EQ(response.status, 400U);
  EXPECT_NE(response.body.find("checks[1].attributes: missing"), std::string::npos);
  EXPECT_TRUE(backend_.asked.empty());
}

TEST_F(CheckCalls, ExplainSaysWhyRulesMatchOrNot) {
  backend_.next = answer_of(kWithin);
  backend_.reports = {{.rule = &rule_, .matched = false, .reason = "path \"/v2\" is not /v1/**"}};
  const Response response = ask("POST", "/v1/explain", R"({"domain":"api","attributes":{}})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body.find(R"({"domain":"api","domain_known":true,"decision":{"allowed":true)"),
            0U);
  EXPECT_NE(response.body.find(R"("rules":[{"rule":"api/search","matched":false,)"
                               R"("reason":"path \"/v2\" is not /v1/**",)"
                               R"("source":{"file":"rules.yaml","line":12}}],"truncated":false})"),
            std::string::npos)
      << response.body;
}

}  // namespace
}  // namespace penstock::http
