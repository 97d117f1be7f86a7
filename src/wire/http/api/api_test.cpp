#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace penstock::http {
namespace {

class ApiRoutes : public ApiTest {};

TEST_F(ApiRoutes, UnknownPathsAreNotFound) {
  for (const std::string_view path :
       {"/", "/v1", "/v1/", "/v1/check/", "/v1/keys", "/v1/keys/a/b", "/v1/keys/a/block/now",
        "/v1/forward-auth/a/b", "/jsonx", "/V1/check", ""}) {
    const Response response = ask("POST", path, "{}");
    EXPECT_EQ(response.status, 404U) << path;
    EXPECT_EQ(field(response, "Content-Type"), "application/problem+json");
  }
}

TEST_F(ApiRoutes, WrongMethodsAreAnsweredWithTheAllowedOnes) {
  EXPECT_EQ(field(ask("GET", "/v1/check"), "Allow"), "POST");
  EXPECT_EQ(field(ask("PUT", "/v1/keys/a"), "Allow"), "GET, DELETE");
  EXPECT_EQ(field(ask("PATCH", "/v1/counters/a"), "Allow"), "POST, GET, DELETE");
  EXPECT_EQ(ask("PUT", "/v1/keys/a").status, 405U);
  EXPECT_EQ(ask("post", "/v1/check").status, 405U);
}

TEST_F(ApiRoutes, OnlyABatchMayBeLong) {
  const std::string body =
      R"({"domain":"d","attributes":{"a":")" + std::string(70'000, 'x') + R"("}})";
  for (const std::string_view path :
       {"/v1/check", "/v1/take", "/v1/explain", "/json", "/v1/reserve", "/v1/commit", "/v1/cancel",
        "/v1/acquire", "/v1/renew", "/v1/release", "/v1/counters/n", "/v1/keys/a/refund",
        "/v1/keys/a/block", "/v1/keys/a/unblock"}) {
    const Response response = ask("POST", path, body);
    EXPECT_EQ(response.status, 413U) << path;
    EXPECT_EQ(field(response, "Content-Type"), "application/problem+json");
  }
  EXPECT_TRUE(backend_.asked.empty());
  EXPECT_EQ(ask("POST", "/v1/checks", "[" + body + "]").status, 200U);
}

const std::vector<std::array<std::string_view, 3>> kChanges{
    {"DELETE", "/v1/keys/a", ""},
    {"POST", "/v1/keys/a/refund", R"({"limit":"1/s"})"},
    {"POST", "/v1/keys/a/block", R"({"for":"1s"})"},
    {"POST", "/v1/keys/a/unblock", ""},
    {"POST", "/v1/counters/n", R"({"add":1})"},
    {"DELETE", "/v1/counters/n", ""}};

TEST_F(ApiRoutes, WritesNeedTheTokenOnPublicListeners) {
  on_loopback_ = false;
  settings_.tokens = {{.name = "alice", .secret = "open sesame"}};
  for (const auto& [method, target, body] : kChanges) {
    backend_.counts.asked.clear();
    const Response none = ask(method, target, body);
    EXPECT_EQ(none.status, 401U) << target;
    EXPECT_EQ(field(none, "WWW-Authenticate"), "Bearer realm=\"penstock\"");
    EXPECT_EQ(ask(method, target, body, {{"Authorization", "Bearer open sesam"}}).status, 401U);
    EXPECT_EQ(ask(method, target, body, {{"Authorization", "Bearer"}}).status, 401U);
    EXPECT_EQ(ask(method, target, body, {{"Authorization", "Basic open sesame"}}).status, 401U);
    EXPECT_TRUE(backend_.counts.asked.empty()) << target;
    EXPECT_EQ(ask(method, target, body, {{"authorization", "bearer open sesame"}}).status, 200U);
  }
}

TEST_F(ApiRoutes, RefundsNeedTheTokenForEnvoyToo) {
  const std::string_view body =
      R"({"domain":"d","descriptors":[{"entries":[{"key":"a"}],"hitsAddend":5,"isNegativeHits":true}]})";
  on_loopback_ = false;
  settings_.tokens = {{.name = "alice", .secret = "open sesame"}};
  EXPECT_EQ(ask("POST", "/json", body).status, 401U);
  EXPECT_TRUE(backend_.asked.empty());
  EXPECT_EQ(ask("POST", "/json", body, {{"authorization", "bearer open sesame"}}).status, 200U);
}

TEST_F(ApiRoutes, WritesAreForbiddenOnPublicListenersWithoutAToken) {
  on_loopback_ = false;
  for (const auto& [method, target, body] : kChanges) {
    const Response response = ask(method, target, body, {{"Authorization", "Bearer "}});
    EXPECT_EQ(response.status, 403U) << target;
    EXPECT_NE(response.body.find("server.token"), std::string::npos);
  }
  EXPECT_TRUE(backend_.counts.asked.empty());
}

TEST_F(ApiRoutes, ChecksAndReadsNeedNoToken) {
  on_loopback_ = false;
  settings_.tokens = {{.name = "alice", .secret = "open sesame"}};
  EXPECT_EQ(ask("POST", "/v1/check", R"({"domain":"a","attributes":{}})").status, 200U);
  EXPECT_EQ(ask("POST", "/v1/take", R"({"key":"a","limit":"1/s"})").status, 200U);
  EXPECT_EQ(ask("GET", "/v1/keys/a?limit=1/s").status, 200U);
  EXPECT_EQ(ask("GET", "/v1/counters/a").status, 200U);
}

TEST_F(ApiRoutes, WebPagesCannotChangeAnythingThroughTheBrowserOfThisMachine) {
  const std::vector<Field> page{{"Origin", "https://evil.example"}};
  EXPECT_EQ(ask("POST", "/v1/keys/a/block", R"({"for":"1s"})", page).status, 403U);
  EXPECT_TRUE(backend_.counts.asked.empty());
  settings_.tokens = {{.name = "alice", .secret = "open sesame"}};
  EXPECT_EQ(ask("POST", "/v1/keys/a/block", R"({"for":"1s"})",
                {{"Origin", "https://ours.example"}, {"Authorization", "Bearer open sesame"}})
                .status,
            200U);
}

TEST_F(ApiRoutes, WrongTokenIsRejectedEvenOnLoopback) {
  settings_.tokens = {{.name = "alice", .secret = "open sesame"}};
  EXPECT_EQ(ask("DELETE", "/v1/keys/a").status, 200U);
  EXPECT_EQ(ask("DELETE", "/v1/keys/a", "", {{"Authorization", "Bearer x"}}).status, 401U);
}

TEST_F(ApiRoutes, AnyPathAndBodyIsAnsweredOnce) {
  rc::check([this](const std::string& path, const std::string& query, const std::string& body) {
    for (const std::string_view method : {"GET", "POST", "DELETE"}) {
      for (const std::string& prefix :
           {std::string("/"), std::string("/v1/keys/"), std::string("/v1/counters/"),
            std::string("/v1/forward-auth/")}) {
        const Response response = ask(method, prefix + path + "?" + query, body);
        RC_ASSERT(response.status >= 200U && response.status < 600U);
      }
    }
  });
}

TEST(ApiSettings, ComeFromTheConfiguration) {
  rules::Settings settings;
  settings.trusted_proxies = {"10.0.0.0/8"};
  settings.http.tokens = {{.name = "token", .secret = "t"}};
  settings.http.named_tokens = {{.name = "alice", .secret = "u"}};
  EXPECT_EQ(api_settings(settings)->tokens, settings.http.all_tokens());
  settings.trusted_proxies = {"ten"};
  EXPECT_FALSE(api_settings(settings).has_value());
}

}  // namespace
}  // namespace penstock::http
