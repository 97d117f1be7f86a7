#include "apps/penstock/text/explain_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::app {
namespace {

constexpr const char* kMatchedRules = R"("rules":[
  {"rule":"api/banned","matched":false,"reason":"no","source":{"file":"a.yaml","line":3}},
  {"rule":"api/search","matched":true,"reason":"applies","source":{"file":"a.yaml","line":6}}])";

std::string answer_with(const std::string& decision, const std::string& rules = kMatchedRules) {
  return R"({"domain":"api","domain_known":true,"decision":)" + decision + "," + rules +
         R"(,"truncated":false})";
}

std::string text_of(const std::string& body) {
  const Result<ExplainReport> report = read_explained({.status = 200, .body = body});
  return report ? as_text(*report, Colour::Never) : report.error().detail;
}

TEST(ExplainedByADaemon, HasTheTextOfRulesOffline) {
  EXPECT_EQ(text_of(answer_with(R"({"allowed":false,"reason":"over_limit","limits":[
    {"rule":"api/search","subject":"user=7","quota":"3/m sliding_log","outcome":"denied","limit":3,
     "remaining":0,"retry_after_ms":20000,"reset_after_ms":60000}]})")),
            "Rules of api:\n"
            "  - banned (a.yaml:3): no\n"
            "  + search (a.yaml:6): applies\n"
            "Limits that apply:\n"
            "    api/search: 3/m sliding_log, counted for user=7\n"
            "      now: 0 of 3 left, all free in 1 min: would deny\n"
            "The request would be denied.");
}

TEST(ExplainedByADaemon, NamesTheLimitsOfARuleAndShadowLimits) {
  const std::string text =
      text_of(answer_with(R"({"allowed":true,"reason":"within_limits","limits":[
    {"rule":"api/search","name":"day","subject":"","quota":"9/d sliding_log","outcome":"denied",
     "limit":9,"remaining":0,"retry_after_ms":1,"reset_after_ms":1,"shadow":true}]})"));
  EXPECT_NE(text.find("    api/search/day: 9/d sliding_log, counted for all clients, shadow: not "
                      "enforced\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("would pass\nThe request would pass."), std::string::npos);
}

TEST(ExplainedByADaemon, ShowsLiveOverridesAndLimitsOfZero) {
  const std::string text = text_of(answer_with(R"({"allowed":false,"reason":"over_limit","limits":[
    {"rule":"api/search","subject":"user=7","quota":"0/m fixed_window","outcome":"never_fits",
     "limit":0,"remaining":0,"retry_after_ms":null,"reset_after_ms":1000,
     "override":{"limit":"0/m","expires_at_ms":1700000000000}}]})"));
  EXPECT_NE(text.find("    api/search: 0/m fixed_window, counted for user=7, override: limit 0/m "
                      "until 2023-11-14 22:13:20 UTC\n"),
            std::string::npos)
      << text;
}

TEST(ExplainedByADaemon, ALimitThatCouldNotBeCheckedHasNoUsage) {
  const std::string text = text_of(answer_with(R"({"allowed":true,"reason":"failed_open","limits":[
    {"rule":"api/search","subject":"","quota":"9/d sliding_log"}]})"));
  EXPECT_EQ(text.find("now:"), std::string::npos) << text;
  EXPECT_NE(text.find("The request would pass."), std::string::npos);
}

TEST(ExplainedByADaemon, SaysThatTheStoreIsUnavailable) {
  for (const std::string reason : {"failed_open", "failed_closed", "decided_locally"}) {
    const std::string text = text_of(answer_with(R"({"allowed":true,"reason":")" + reason +
                                                 R"(","limits":[
      {"rule":"api/search","subject":"","quota":"9/d sliding_log"}]})"));
    EXPECT_NE(text.find("The store is unavailable: on_failure decides (" + reason + ").\n"),
              std::string::npos)
        << text;
  }
  const std::string text =
      text_of(answer_with(R"({"allowed":true,"reason":"within_limits","limits":[
    {"rule":"api/search","subject":"","quota":"9/d sliding_log"}]})"));
  EXPECT_EQ(text.find("unavailable"), std::string::npos) << text;
}

TEST(ExplainedByADaemon, NamesTheListOrTheRuleThatSettlesTheRequest) {
  EXPECT_NE(text_of(answer_with(R"({"allowed":false,"reason":"deny_listed","limits":[]})",
                                R"("rules":[{"rule":"api/banned","matched":true,"reason":"applies",
                                "source":{"file":"a.yaml","line":3}}])"))
                .find("On the deny list: banned"),
            std::string::npos);
  EXPECT_NE(text_of(answer_with(R"({"allowed":false,"reason":"missing_attribute","limits":[]})",
                                R"("rules":[
      {"rule":"api/all","matched":true,"reason":"applies","source":{"file":"a.yaml","line":3}},
      {"rule":"api/keyed","matched":true,"reason":"denies the request: api_key is absent",
       "source":{"file":"a.yaml","line":4}}])"))
                .find("Denied by keyed: "),
            std::string::npos);
  EXPECT_EQ(text_of(R"({"domain":"x","domain_known":false,"rules":[],"truncated":false,
                        "decision":{"allowed":true,"reason":"no_rule","limits":[]}})"),
            "There is no domain \"x\": nothing limits the request.");
}

TEST(ExplainedByADaemon, AMalformedAnswerIsAnError) {
  for (const char* body : {"", "[]", "{}", R"({"decision":{"allowed":true}})",
                           R"({"domain":1,"domain_known":true,"decision":{"allowed":true}})"}) {
    const Result<ExplainReport> report = read_explained({.status = 200, .body = body});
    ASSERT_FALSE(report) << body;
    EXPECT_EQ(report.error().code, ErrorCode::Protocol) << body;
  }
  EXPECT_EQ(read_explained({.status = 400, .body = R"({"detail":"domain: missing"})"}).error(),
            (Error{ErrorCode::InvalidInput, "domain: missing"}));
}

}  // namespace
}  // namespace penstock::app
