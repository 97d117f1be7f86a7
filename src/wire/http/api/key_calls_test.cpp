#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using Asked = std::vector<std::string>;

class KeyCalls : public ApiTest {};

TEST_F(KeyCalls, TakeCountsUnderTheKeyAlone) {
  const Response response =
      ask("POST", "/v1/take", R"({"key":"user:1","limit":"100/m","burst":20,"cost":2})");
  EXPECT_EQ(backend_.counts.asked, Asked{"check user:1| 100/m burst 20 x2"});
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(field(response, "X-RateLimit-Remaining"), "99");
  EXPECT_EQ(response.body,
            R"({"allowed":true,"reason":"within_limits","outcome":"allowed","limit":100,)"
            R"("remaining":99,"retry_after_ms":0,"reset_after_ms":600,"limits":[)"
            R"({"subject":"user:1","quota":"100/m burst 20","outcome":"allowed","limit":100,)"
            R"("remaining":99,"retry_after_ms":0,"reset_after_ms":600,"descriptor":0}]})"
            "\n");
}

TEST_F(KeyCalls, DeniedTakeSaysWhenToRetry) {
  backend_.counts.decisions = {Decision::deny(20, 0, milliseconds{900}, milliseconds{300})};
  const Response response = ask("POST", "/v1/take", R"({"key":"user:1","limit":"100/m"})");
  EXPECT_EQ(response.status, 429U);
  EXPECT_EQ(field(response, "Retry-After"), "1");
  EXPECT_NE(response.body.find(R"("violated-policies":["request"])"), std::string::npos);
}

TEST_F(KeyCalls, TakeFailsClosedByDefault) {
  backend_.counts.failure = Error{ErrorCode::Unavailable, "down"};
  const Response response = ask("POST", "/v1/take", R"({"key":"a","limit":"1/s"})");
  EXPECT_EQ(response.status, 503U);
  EXPECT_EQ(field(response, "Retry-After"), "1");
  ask("POST", "/v1/take", R"({"key":"a","limit":"1/s","on_failure":"open"})");
  ask("POST", "/v1/take", R"({"key":"a","limit":"1/s","on_failure":"local"})");
  ask("POST", "/v1/take", R"({"key":"a","limit":"1/s","on_failure":"closed"})");
  using rules::OnFailure;
  EXPECT_EQ(backend_.policies,
            (std::vector{OnFailure::Closed, OnFailure::Open, OnFailure::Local, OnFailure::Closed}));
  const Response wrong = ask("POST", "/v1/take", R"({"key":"a","limit":"1/s","on_failure":"no"})");
  EXPECT_EQ(wrong.status, 400U);
  EXPECT_NE(wrong.body.find("must be open, closed or local"), std::string::npos) << wrong.body;
}

TEST_F(KeyCalls, TakeUsesTheConfiguredFailurePolicyByDefault) {
  settings_.on_failure = rules::OnFailure::Local;
  ask("POST", "/v1/take", R"({"key":"a","limit":"1/s"})");
  ask("POST", "/v1/take", R"({"key":"a","limit":"1/s","on_failure":"open"})");
  EXPECT_EQ(backend_.policies, (std::vector{rules::OnFailure::Local, rules::OnFailure::Open}));
}

TEST_F(KeyCalls, TakeNeedsAKeyAndALimit) {
  EXPECT_EQ(ask("POST", "/v1/take", R"({"limit":"1/s"})").status, 400U);
  EXPECT_EQ(ask("POST", "/v1/take", R"({"key":"a"})").status, 400U);
  EXPECT_EQ(ask("POST", "/v1/take", R"({"key":"","limit":"1/s"})").status, 400U);
  const std::string key(4097, 'k');
  EXPECT_EQ(ask("POST", "/v1/take", R"({"key":")" + key + R"(","limit":"1/s"})").status, 400U);
  EXPECT_EQ(ask("POST", "/v1/take", R"({"key":"a","limit":"1/s","algorithm":"x"})").status, 400U);
  EXPECT_TRUE(backend_.counts.asked.empty());
}

TEST_F(KeyCalls, PeekDoesNotCharge) {
  const Response response = ask("GET", "/v1/keys/user%3A1?limit=100/m&algorithm=gcra");
  EXPECT_EQ(backend_.counts.asked, Asked{"check user:1| 100/m gcra x0"});
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body.find(R"({"key":"user:1","allowed":true,)"), 0U);
}

TEST_F(KeyCalls, PeekAtABlockedKeyIsNoProblem) {
  backend_.counts.decisions = {Decision::block(100, std::chrono::seconds{60})};
  const Response response = ask("GET", "/v1/keys/a?limit=100/m");
  EXPECT_EQ(response.status, 200U);
  EXPECT_NE(response.body.find(R"("outcome":"blocked")"), std::string::npos);
  EXPECT_NE(response.body.find(R"("retry_after_ms":60000)"), std::string::npos);
}

TEST_F(KeyCalls, WithARuleTheKeyIsASubjectUnderTheQuotaOfTheRule) {
  backend_.counts.decisions = {Decision::allow(600, 5, milliseconds{1}),
                               Decision::allow(5000, 7, milliseconds{1})};
  const Response response = ask("GET", "/v1/keys/api_key%3Dabc?rule=api/search");
  EXPECT_EQ(backend_.counts.asked,
            Asked{"check api_key=abc|api/search/m 600/m x0 api_key=abc|api/search/d 5000/d x0"});
  EXPECT_EQ(response.status, 200U);
  EXPECT_NE(response.body.find(R"("name":"day")"), std::string::npos);
  EXPECT_NE(response.body.find(R"("remaining":5)"), std::string::npos);
}

TEST_F(KeyCalls, EachOperationAsksTheStoreForExactlyThat) {
  const std::string subject = "/v1/keys/api_key=abc";
  struct Case {
    std::string_view method;
    std::string target;
    std::string_view body;
    std::string asked;
    std::string_view answer;
  };
  const std::vector<Case> cases{
      {"DELETE", "/v1/keys/a%2Fb", "", "reset a/b|", R"({"key":"a/b","was_used":true})"},
      {"DELETE", subject + "?rule=api/search", "",
       "reset api_key=abc|api/search/m api_key=abc|api/search/d",
       R"({"key":"api_key=abc","was_used":true})"},
      {"DELETE", subject + "?domain=api", "",
       "reset api_key=abc|api/search/m api_key=abc|api/search/d",
       R"({"key":"api_key=abc","was_used":true})"},
      {"POST", "/v1/keys/a/block", R"({"for":"10m"})", "block a| 600000000",
       R"({"key":"a","blocked_for_ms":600000,"was_blocked":true})"},
      {"POST", "/v1/keys/a/unblock", "", "block a| 0", R"({"key":"a","was_blocked":true})"},
      {"POST", subject + "/unblock", R"({"domain":"api"})",
       "block api_key=abc|api/search/m api_key=abc|api/search/d 0",
       R"({"key":"api_key=abc","was_blocked":true})"},
      {"POST", "/v1/counters/n", R"({"add":-3,"ttl":"1h"})", "add integer n -3 3600000000",
       R"({"name":"n","integer":7})"},
      {"POST", "/v1/counters/n", R"({"add":"0.25"})", "add decimal n 250000000",
       R"({"name":"n","decimal":"0.000000007"})"},
      {"DELETE", "/v1/counters/n%20m", "", "remove n m", R"({"name":"n m","existed":true})"},
  };
  for (const Case& expected : cases) {
    backend_.counts.asked.clear();
    const Response response = ask(expected.method, expected.target, expected.body);
    EXPECT_EQ(response.status, 200U) << expected.target << response.body;
    EXPECT_EQ(backend_.counts.asked, Asked{expected.asked}) << expected.target;
    EXPECT_EQ(response.body, std::string(expected.answer) + "\n") << expected.target;
  }
}

TEST_F(KeyCalls, RefundUsesTheSameQuota) {
  const Response response =
      ask("POST", "/v1/keys/a/refund", R"({"cost":5,"limit":"100/m burst 20"})");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(backend_.counts.asked, Asked{"refund a| 100/m burst 20 x5"});
}

TEST_F(KeyCalls, CounterIsReadAsBothNumbers) {
  const Response response = ask("GET", "/v1/counters/n");
  EXPECT_EQ(backend_.counts.asked, (Asked{"get integer n", "get decimal n"}));
  EXPECT_EQ(response.body, "{\"name\":\"n\",\"integer\":7,\"decimal\":\"0.000000007\"}\n");
}

TEST_F(KeyCalls, BadInputNeverReachesTheStore) {
  const std::string long_key = "/v1/keys/" + std::string(4097, 'k') + "?limit=1/s";
  struct Case {
    std::string_view method;
    std::string_view target;
    std::string_view body;
    std::string_view detail;
  };
  const std::vector<Case> cases{
      {"GET", "/v1/keys/a", "", "limit: missing; give limit=100/m, or rule=domain/rule"},
      {"GET", "/v1/keys/?limit=1/s", "", "key: must not be empty"},
      {"GET", "/v1/keys/%4?limit=1/s", "", "is not percent-encoded"},
      {"GET", long_key, "", "key: 4097 bytes; at most 4096"},
      {"GET", "/v1/keys/a?limit=1/s&rule=api/search", "", "only one of them"},
      {"GET", "/v1/keys/a?rule=search", "", "must be a domain and a rule, as in api/search"},
      {"GET", "/v1/keys/a?rule=api/serach", "", "is not loaded"},
      {"DELETE", "/v1/keys/a?limit=1/s", "", "query: unknown parameter"},
      {"POST", "/v1/keys/a/block", "{}", "for: missing; a time such as 10m"},
      {"POST", "/v1/keys/a/block", R"({"for":"soon"})", "must be a time such as"},
      {"POST", "/v1/keys/a/block?for=10m", "", "query: unknown parameter"},
      {"POST", "/v1/keys/a/refund", R"({"cost":1})", "limit: missing"},
      {"POST", "/v1/counters/n", R"({"add":0.25})", "add: 0.25 must be a whole number"},
      {"POST", "/v1/counters/n", R"({"add":9223372036854775808})", "must be a whole number"},
      {"POST", "/v1/counters/n", R"({"add":"0.0000000001"})", "add: "},
      {"POST", "/v1/counters/n", "{}", "add: missing"},
      {"POST", "/v1/counters/", R"({"add":1})", "name: must not be empty"},
  };
  for (const Case& bad : cases) {
    const Response response = ask(bad.method, bad.target, bad.body);
    EXPECT_EQ(response.status, 400U) << bad.target << response.body;
    EXPECT_EQ(field(response, "Content-Type"), "application/problem+json");
    EXPECT_NE(response.body.find(bad.detail), std::string::npos) << response.body;
  }
  EXPECT_TRUE(backend_.counts.asked.empty());
}

TEST_F(KeyCalls, UnreachableStoreIsServiceUnavailable) {
  backend_.counts.failure = Error{ErrorCode::Timeout, "no answer within 10 ms"};
  const std::vector<std::array<std::string_view, 3>> calls{
      {"GET", "/v1/keys/a?limit=1/s", ""},
      {"DELETE", "/v1/keys/a", ""},
      {"POST", "/v1/keys/a/refund", R"({"limit":"1/s"})"},
      {"POST", "/v1/keys/a/block", R"({"for":"1s"})"},
      {"POST", "/v1/keys/a/unblock", ""},
      {"POST", "/v1/counters/n", R"({"add":1})"},
      {"GET", "/v1/counters/n", ""},
      {"DELETE", "/v1/counters/n", ""}};
  for (const auto& [method, target, body] : calls) {
    const Response response = ask(method, target, body);
    EXPECT_EQ(response.status, 503U) << target;
    EXPECT_EQ(field(response, "Retry-After"), "1");
    EXPECT_NE(response.body.find("timeout: no answer within 10 ms"), std::string::npos);
  }
}

TEST_F(KeyCalls, SumThatDoesNotFitIsAConflict) {
  backend_.counts.failure = Error{ErrorCode::Overflow, "9223372036854775807 + 1"};
  EXPECT_EQ(ask("POST", "/v1/counters/n", R"({"add":1})").status, 409U);
}

}  // namespace
}  // namespace penstock::http
