#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

class OverrideCalls : public ApiTest {
 protected:
  std::string detail_of(std::string_view method, std::string_view target,
                        std::string_view body = {}) {
    const Response response = ask(method, target, body);
    EXPECT_EQ(response.status, 400U);
    return response.body;
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(OverrideCalls, SetListAndRemove) {
  const Response made = ask("POST", "/v1/overrides",
                            R"({"rule":"api/search","subject":"user=42","limit":"500/m",)"
                            R"("for":"1h","reason":"incident 12"})");
  EXPECT_EQ(made.status, 200U);
  const std::string shown =
      R"({"rule":"api/search","subject":"user=42","limit":"500/m","reason":"incident 12",)"
      R"("by":"local","set_at_ms":1728000000000,"expires_at_ms":1728003600000})";
  EXPECT_EQ(made.body, shown + "\n");
  EXPECT_EQ(ask("GET", "/v1/overrides").body, R"({"overrides":[)" + shown + "]}\n");
  EXPECT_EQ(ask("GET", "/v1/overrides?rule=api/search").body, R"({"overrides":[)" + shown + "]}\n");
  EXPECT_EQ(ask("GET", "/v1/overrides?rule=api/sea").body, "{\"overrides\":[]}\n");
  EXPECT_EQ(ask("DELETE", "/v1/overrides?rule=api/search&subject=user%3D42").body,
            R"({"removed":true,"override":)" + shown + "}\n");
  EXPECT_EQ(ask("DELETE", "/v1/overrides?rule=api/search&subject=user%3D42").body,
            "{\"removed\":false}\n");
}

TEST_F(OverrideCalls, HaveOneEffect) {
  EXPECT_TRUE(has(ask("POST", "/v1/overrides", R"({"rule":"a/b","multiply":"2","for":"1m"})").body,
                  R"("multiply":"2")"));
  EXPECT_TRUE(has(ask("POST", "/v1/overrides", R"({"rule":"a/b","shadow":true,"for":"1m"})").body,
                  R"("shadow":true)"));
  for (const char* effect :
       {"", R"("limit":"1/s","shadow":true,)", R"("limit":"1/s","multiply":"2",)"}) {
    EXPECT_TRUE(has(detail_of("POST", "/v1/overrides",
                              R"({"rule":"a/b",)" + std::string(effect) + R"("for":"1m"})"),
                    "exactly one of limit, multiply and shadow"));
  }
}

TEST_F(OverrideCalls, ErrorsNameTheValue) {
  const auto body = [](std::string_view more) {
    return R"({"rule":"a/b","shadow":true)" + std::string(more) + "}";
  };
  EXPECT_TRUE(has(detail_of("POST", "/v1/overrides", body("")), "for: missing"));
  EXPECT_TRUE(has(detail_of("POST", "/v1/overrides", body(R"(,"for":"31d")")), "31d"));
  EXPECT_TRUE(has(detail_of("POST", "/v1/overrides", body(R"(,"for":"10ms")")), "10ms"));
  EXPECT_TRUE(has(detail_of("POST", "/v1/overrides", body(R"(,"for":"1m","since":1)")), "since"));
  EXPECT_TRUE(has(detail_of("POST", "/v1/overrides", R"({"shadow":true,"for":"1m"})"), "rule"));
  EXPECT_TRUE(has(detail_of("POST", "/v1/overrides", R"({"rule":"a/b","shadow":false,"for":"1m"})"),
                  "false must be true"));
  const std::string longest(501, 'r');
  EXPECT_TRUE(
      has(detail_of("POST", "/v1/overrides", body(R"(,"for":"1m","reason":")" + longest + "\"")),
          "501 bytes"));
  EXPECT_TRUE(has(detail_of("DELETE", "/v1/overrides"), "rule: missing"));
  EXPECT_TRUE(has(detail_of("GET", "/v1/actions?n=1001"), "1001"));
}

TEST_F(OverrideCalls, PagesOfOtherNamesCannotReadThem) {
  settings_.hosts = {"127.0.0.1", "limits.internal"};
  for (const char* path : {"/v1/overrides", "/v1/actions"}) {
    const auto status = [&](std::string_view host) {
      return ask("GET", path, {}, {{"Host", host}}).status;
    };
    EXPECT_EQ(status("evil.example:8080"), 403U) << "DNS rebinding";
    EXPECT_EQ(status("127.0.0.1:8080"), 200U);
    EXPECT_EQ(status("Limits.internal:8080"), 200U);
    on_loopback_ = false;
    EXPECT_EQ(status("127.0.0.1:8080"), 403U) << "without a token";
    on_loopback_ = true;
  }
}

TEST_F(OverrideCalls, TheMostIsAConflict) {
  for (std::size_t i = 0; i < store::OperatorStore::kMaxOverrides; ++i) {
    ASSERT_EQ(ask("POST", "/v1/overrides",
                  R"({"rule":"a/b","shadow":true,"for":"1m","subject":"user=)" + std::to_string(i) +
                      "\"}")
                  .status,
              200U);
  }
  const Response more = ask("POST", "/v1/overrides", R"({"rule":"a/b","shadow":true,"for":"1m"})");
  EXPECT_EQ(more.status, 409U);
  EXPECT_TRUE(has(more.body, "there are 1000 overrides already"));
}

TEST_F(OverrideCalls, EveryActionIsLoggedWithItsReason) {
  ask("POST", "/v1/keys/user%3D42/block", R"({"rule":"api/search","for":"10m","reason":"abuse"})");
  ask("POST", "/v1/keys/user%3D42/unblock", R"({"domain":"api","reason":"over"})");
  ask("DELETE", "/v1/keys/k?reason=again");
  EXPECT_EQ(ask("GET", "/v1/actions").body,
            R"({"actions":[{"at_ms":1728000000000,"by":"local","action":"reset","rule":"",)"
            R"("domain":"","subject":"k","detail":"","reason":"again"},)"
            R"({"at_ms":1728000000000,"by":"local","action":"unblock","rule":"","domain":"api",)"
            R"("subject":"user=42","detail":"","reason":"over"},)"
            R"({"at_ms":1728000000000,"by":"local","action":"block","rule":"api/search",)"
            R"("domain":"","subject":"user=42","detail":"for 10m","reason":"abuse",)"
            R"("expires_at_ms":1728000600000}]})"
            "\n");
  EXPECT_TRUE(has(ask("GET", "/v1/actions?n=1").body, "reset"));
  EXPECT_FALSE(has(ask("GET", "/v1/actions?n=1").body, "block"));
}

TEST_F(OverrideCalls, AFailedActionIsNotLogged) {
  backend_.counts.failure = Error{ErrorCode::Unavailable, "down"};
  EXPECT_EQ(ask("DELETE", "/v1/keys/k").status, 503U);
  EXPECT_EQ(ask("POST", "/v1/overrides", R"({"rule":"a/b","shadow":true,"for":"1m"})").status,
            503U);
  backend_.counts.failure.reset();
  EXPECT_EQ(ask("GET", "/v1/actions").body, "{\"actions\":[]}\n");
}

TEST_F(OverrideCalls, NeedTheTokenAlsoToRead) {
  settings_.tokens = {{.name = "alice", .secret = "secret"}};
  on_loopback_ = false;
  for (const char* path : {"/v1/overrides", "/v1/actions"}) {
    EXPECT_EQ(ask("GET", path).status, 401U);
    EXPECT_EQ(ask("GET", path, "", {{"Authorization", "Bearer secret"}}).status, 200U);
  }
  ask("DELETE", "/v1/keys/k", "", {{"Authorization", "Bearer secret"}});
  EXPECT_TRUE(has(ask("GET", "/v1/actions", "", {{"Authorization", "Bearer secret"}}).body,
                  R"("by":"alice")"));
}

}  // namespace
}  // namespace penstock::http
