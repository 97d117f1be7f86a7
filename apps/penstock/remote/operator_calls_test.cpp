#include "apps/penstock/remote/operator_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::app {
namespace {

const Instant kNoon{std::chrono::hours{12}};

DaemonAnswer ok_answer(std::string body) { return {.status = 200, .body = std::move(body)}; }

TEST(OperatorCalls, AreThoseOfTheHttpApi) {
  const OverrideCall call{
      .rule = "api/search", .subject = "user=4&2", .limit = "5/m", .reason = "a b"};
  EXPECT_EQ(set_override_call(call, std::chrono::hours{1}).body,
            R"({"rule":"api/search","subject":"user=4&2","limit":"5/m","for":"3600000ms",)"
            R"("reason":"a b"})");
  EXPECT_EQ(remove_override_call(call).target,
            "/v1/overrides?rule=api%2Fsearch&subject=user%3D4%262&reason=a%20b");
  EXPECT_EQ(list_overrides_call("").target, "/v1/overrides");
  EXPECT_EQ(list_actions_call(7).target, "/v1/actions?n=7");
}

TEST(OperatorCalls, ShowOverridesAsATable) {
  EXPECT_EQ(overrides_text(ok_answer(R"({"overrides":[]})"), kNoon).value(), "no overrides\n");
  EXPECT_EQ(
      overrides_text(
          ok_answer(R"({"overrides":[{"rule":"a/b","subject":"","shadow":true,"reason":"","by":)"
                    R"("alice","set_at_ms":0,"expires_at_ms":43290000},{"rule":"a/b","subject":)"
                    R"("user=\u001b[31m","limit":"5/m","reason":"why","by":"local",)"
                    R"("set_at_ms":0,"expires_at_ms":1}]})"),
          kNoon)
          .value(),
      "rule  subject     override   left        by     reason\n"
      "a/b   -           shadow     1 min 30 s  alice\n"
      "a/b   user=?[31m  limit 5/m  0 s         local  why\n");
}

TEST(OperatorCalls, ShowActionsAsATable) {
  EXPECT_EQ(actions_text(ok_answer(R"({"actions":[]})"), kNoon).value(), "no actions\n");
  EXPECT_EQ(actions_text(ok_answer(R"({"actions":[{"at_ms":1000,"by":"alice","action":"block",)"
                                   R"("rule":"","domain":"api","subject":"user=1","detail":)"
                                   R"("for 10m","reason":"abuse","expires_at_ms":601000}]})"),
                         kNoon)
                .value(),
            "time (UTC)           by     action  rule  subject  detail   reason\n"
            "1970-01-01 00:00:01  alice  block   api   user=1   for 10m  abuse\n");
}

TEST(OperatorCalls, AMalformedResponseIsAnError) {
  for (const char* body : {"", "[]", "{}", R"({"actions":7})", R"({"actions":[{"at_ms":"x"}]})"}) {
    EXPECT_FALSE(actions_text(ok_answer(body), kNoon)) << body;
  }
  const Result<std::string> denied =
      removed_text({.status = 401, .body = R"({"detail":"Authorization: missing"})"}, kNoon);
  ASSERT_FALSE(denied);
  EXPECT_NE(denied.error().detail.find("Authorization: missing"), std::string::npos);
}

}  // namespace
}  // namespace penstock::app
