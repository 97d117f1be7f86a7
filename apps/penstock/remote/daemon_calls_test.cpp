#include "apps/penstock/remote/daemon_calls.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr Quota kQuota = per_minute(100);

const char* const kTwoLimits = R"({"key":"user=7","allowed":false,"limits":[
  {"rule":"api/search","name":"minute","subject":"user=7","quota":"3/m","outcome":"denied",
   "limit":3,"remaining":0,"retry_after_ms":20000,"reset_after_ms":60000,"descriptor":0},
  {"rule":"api/search","name":"day","subject":"user=7","quota":"1000/d sliding_log",
   "outcome":"allowed","limit":1000,"remaining":997,"retry_after_ms":0,"reset_after_ms":5}]})";

std::string one_limit(const std::string& members) {
  return R"({"limits":[{"quota":"5/s",)" + members + "}]}";
}

TEST(DaemonCalls, KeysArePercentEncoded) {
  EXPECT_EQ(peek_call("a/b", {}, kQuota).target, "/v1/keys/a%2Fb?limit=100%2Fm");
  EXPECT_EQ(peek_call("user=7", {.rule = "api/search"}, {}).target,
            "/v1/keys/user%3D7?rule=api%2Fsearch");
  const DaemonCall reset = reset_call("user=7", {.domain = "api"});
  EXPECT_EQ(reset.method + " " + reset.target, "DELETE /v1/keys/user%3D7?domain=api");
  EXPECT_EQ(reset_call("k", {}).target, "/v1/keys/k");
}

TEST(DaemonCalls, BlocksLastAtLeastAsLongAsRequested) {
  const DaemonCall call = block_call("k", {.rule = "a/b"}, Duration{1'000'001});
  EXPECT_EQ(call.target, "/v1/keys/k/block");
  EXPECT_EQ(call.body, R"({"rule":"a/b","for":"1001ms"})");
  EXPECT_EQ(unblock_call("k", {}).body, "{}");
}

TEST(DaemonCalls, TakesUnderTheLimitThatWasTyped) {
  const Result<DaemonCall> call = take_call("k\"", *Quota::parse("5/m burst 7 gcra"), Cost{3});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->body, R"({"key":"k\"","limit":"5/m burst 7 gcra","cost":3})");
}

TEST(DaemonCalls, NeverTakesFromAnotherKeyThanTheOneTyped) {
  const Result<DaemonCall> call = take_call("\xff", kQuota, Cost{1});
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().code, ErrorCode::InvalidInput);
  EXPECT_NE(call.error().detail.find("%FF"), std::string::npos);
}

TEST(ReadLimitStates, HasEveryLimitOfARule) {
  const auto counts = read_limit_states({.status = 200, .body = kTwoLimits});
  ASSERT_TRUE(counts);
  ASSERT_EQ(counts->size(), 2U);
  EXPECT_EQ(counts->front().rule, "api/search/minute");
  EXPECT_EQ(to_string(counts->front().quota), "3/m");
  EXPECT_EQ(counts->front().decision, Decision::deny(3, 0, minutes{1}, milliseconds{20'000}));
  EXPECT_EQ(counts->back().quota.algorithm(), Algorithm::SlidingLog);
  EXPECT_EQ(counts->back().decision, Decision::allow(1000, 997, milliseconds{5}));
}

TEST(ReadLimitStates, KnowsEveryOutcome) {
  const std::string numbers = R"("limit":5,"remaining":2,"reset_after_ms":9,)";
  const auto decision = [&](const std::string& rest) {
    return read_limit_states({.status = 429, .body = one_limit(numbers + rest)})->front().decision;
  };
  EXPECT_EQ(decision(R"("outcome":"never_fits","retry_after_ms":null)"),
            Decision::never_fits(5, 2, milliseconds{9}));
  EXPECT_EQ(decision(R"("outcome":"blocked","retry_after_ms":60000)"),
            Decision::block(5, minutes{1}));
}

TEST(ReadLimitStates, ADenialWithoutADecisionIsAnError) {
  const auto counts =
      read_limit_states({.status = 503, .body = R"({"detail":"the store is unavailable"})"});
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error(), (Error{ErrorCode::Unavailable, "the store is unavailable"}));
}

TEST(ReadLimitStates, NamesTheMalformedMember) {
  const auto complaint = [](const std::string& members) {
    return read_limit_states({.status = 200, .body = one_limit(members)}).error();
  };
  const std::string fine = R"("outcome":"allowed","limit":5,"remaining":2,)";
  EXPECT_EQ(complaint(R"("limit":5)").code, ErrorCode::Protocol);
  EXPECT_NE(complaint(R"("limit":5)").detail.find("outcome"), std::string::npos);
  EXPECT_NE(complaint(fine + R"("reset_after_ms":-1)").detail.find("reset_after_ms"),
            std::string::npos);
  EXPECT_NE(complaint(fine + R"("reset_after_ms":18446744073709551615)").detail.find("reset"),
            std::string::npos);
  for (const char* body : {"", "[]", "{}", R"({"limits":[]})", R"({"limits":[7]})"}) {
    EXPECT_EQ(read_limit_states({.status = 200, .body = body}).error().code, ErrorCode::Protocol)
        << body;
  }
}

TEST(ReadFlag, IsYesOrNoOrAnError) {
  EXPECT_TRUE(*read_flag({.status = 200, .body = R"({"was_used":true})"}, "was_used"));
  EXPECT_FALSE(*read_flag({.status = 200, .body = R"({"was_used":false})"}, "was_used"));
  EXPECT_EQ(read_flag({.status = 200, .body = "{}"}, "was_used").error().code, ErrorCode::Protocol);
  EXPECT_EQ(read_flag({.status = 401, .body = R"({"detail":"no"})"}, "was_used").error().code,
            ErrorCode::Misconfigured);
}

}  // namespace
}  // namespace penstock::app
