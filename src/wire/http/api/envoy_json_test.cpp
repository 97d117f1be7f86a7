#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Asked = std::vector<std::string>;

class EnvoyJson : public ApiTest {
 protected:
  EnvoyJson() { rule_.given_name = "careful"; }
};

constexpr std::string_view kOne =
    R"({"domain":"a","descriptors":[{"entries":[{"key":"k","value":"v"}]}]})";

TEST_F(EnvoyJson, ReadsBothSpellingsOfProtobuf) {
  ask("POST", "/json",
      R"({"domain":"a","hitsAddend":3,"descriptors":[{"entries":[{"key":"k","value":"v"},{"key":"x"}],)"
      R"("hitsAddend":"0","limit":{"requestsPerUnit":5,"unit":"HOUR"}}]})");
  ask("POST", "/json",
      R"({"domain":"a","hits_addend":"2","descriptors":[{"entries":[{"key":"k"}],"hits_addend":7,)"
      R"("limit":{"requests_per_unit":"5","unit":5},"is_negative_hits":true}]})");
  ask("POST", "/json", R"({"domain":"a","hitsAddend":0,"descriptors":[{},{"limit":null}]})");
  EXPECT_EQ(backend_.asked, (Asked{"a x3 [k=v x=] x0 5/h fixed_window",
                                   "a x2 [k=] x7 5/30d fixed_window refund", "a x1 [] []"}));
}

TEST_F(EnvoyJson, WithinLimitIsWrittenAsProtobufDoes) {
  backend_.next = answer_of(Decision::allow(100, 99, milliseconds{100}));
  const Response response = ask("POST", "/json", kOne);
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(field(response, "Content-Type"), "application/json");
  EXPECT_EQ(response.body,
            R"({"overallCode":"OK","statuses":[{"code":"OK",)"
            R"("currentLimit":{"requestsPerUnit":600,"unit":"MINUTE","name":"careful"},)"
            R"("limitRemaining":99,"durationUntilReset":"1s"}]})");
}

TEST_F(EnvoyJson, LimitOfADescriptorMayBeAnyNumber) {
  for (const std::string_view limit : {R"({"requestsPerUnit":0,"unit":"DAY"})", R"({"unit":"DAY"})",
                                       R"({"requestsPerUnit":4294967295,"unit":"SECOND"})"}) {
    ask("POST", "/json", R"({"domain":"a","descriptors":[{"limit":)" + std::string(limit) + "}]}");
  }
  EXPECT_EQ(backend_.asked, (Asked{"a x1 [] 0/d fixed_window", "a x1 [] 0/d fixed_window",
                                   "a x1 [] 1000000000/s fixed_window"}));
}

TEST_F(EnvoyJson, OverLimitLeavesZerosOut) {
  backend_.next = answer_of(Decision::deny(100, 0, seconds{30}, milliseconds{11'001}));
  const Response response = ask("POST", "/json", kOne);
  EXPECT_EQ(response.status, 429U);
  EXPECT_EQ(response.body,
            R"({"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT",)"
            R"("currentLimit":{"requestsPerUnit":600,"unit":"MINUTE","name":"careful"},)"
            R"("durationUntilReset":"12s"}]})");
}

TEST_F(EnvoyJson, ShadowLimitIsOkAndReportedOnlyWithoutOthers) {
  backend_.next = answer_of(Decision::deny(100, 0, seconds{30}, seconds{11}));
  backend_.next.allowed = true;
  backend_.next.limits[0].shadow = true;
  EXPECT_NE(ask("POST", "/json", kOne).body.find(R"("statuses":[{"code":"OK","currentLimit")"),
            std::string::npos);
  backend_.next.limits.push_back(backend_.next.limits[0]);
  backend_.next.limits[1].shadow = false;
  backend_.next.limits[1].decision = Decision::allow(100, 50, seconds{5});
  EXPECT_NE(ask("POST", "/json", kOne).body.find("\"limitRemaining\":50"), std::string::npos);
}

TEST_F(EnvoyJson, EveryDescriptorHasAStatus) {
  backend_.next = answer_of(Decision::allow(100, 99, milliseconds{100}));
  backend_.next.limits[0].matched.descriptor = 2;
  backend_.next.match.descriptors = {rules::DescriptorOutcome::NoRule,
                                     rules::DescriptorOutcome::Unlimited,
                                     rules::DescriptorOutcome::Limited};
  const Response response = ask("POST", "/json", R"({"domain":"a","descriptors":[{},{},{}]})");
  EXPECT_EQ(response.body.find(R"({"overallCode":"OK","statuses":[{"code":"OK"},)"
                               R"({"code":"OK","limitRemaining":4294967295},)"
                               R"({"code":"OK","currentLimit":)"),
            0U)
      << response.body;
}

TEST_F(EnvoyJson, PeriodWithoutAnEnvoyUnitIsReportedWithoutOne) {
  backend_.next = answer_of(Decision::allow(30, 29, seconds{1}));
  backend_.next.limits[0].matched.check.quota = per(30, seconds{30});
  EXPECT_NE(ask("POST", "/json", kOne)
                .body.find(R"("currentLimit":{"requestsPerUnit":30,"name":"careful"})"),
            std::string::npos);
  backend_.next.limits[0].matched.check.quota = per(30, Days{7});
  EXPECT_NE(ask("POST", "/json", kOne).body.find("\"unit\":\"WEEK\""), std::string::npos);
}

TEST_F(EnvoyJson, EverythingElseIsAPlainBadRequest) {
  for (
      const std::string_view body :
      {"", "{", "[]", "{}", R"({"domain":"a"})", R"({"domain":"a","descriptors":[]})",
       R"({"domain":"","descriptors":[{}]})", R"({"domain":"a","descriptors":[{}],"x":1})",
       R"({"domain":"a","descriptors":[{"entries":[{"key":"k","x":1}]}]})",
       R"({"domain":"a","descriptors":[{}],"hitsAddend":-1})",
       R"({"domain":"a","descriptors":[{}],"hitsAddend":4294967296})",
       R"({"domain":"a","descriptors":[{}],"hitsAddend":1,"hits_addend":1})",
       R"({"domain":"a","descriptors":[{"hitsAddend":"x"}]})",
       R"({"domain":"a","descriptors":[{"isNegativeHits":1}]})",
       R"({"domain":"a","descriptors":[{"limit":{"requestsPerUnit":5,"unit":"UNKNOWN"}}]})",
       R"({"domain":"a","descriptors":[{"limit":{"requestsPerUnit":5,"unit":9}}]})",
       R"({"domain":"a","descriptors":[{"limit":{"requestsPerUnit":5}}]})",
       R"({"domain":"a","descriptors":[{"limit":{"requestsPerUnit":4294967296,"unit":"DAY"}}]})"}) {
    const Response response = ask("POST", "/json", body);
    EXPECT_EQ(response.status, 400U) << body;
    EXPECT_EQ(response.body, "Bad Request\n");
    EXPECT_EQ(field(response, "Content-Type"), "text/plain; charset=utf-8");
  }
  EXPECT_TRUE(backend_.asked.empty());
}

}  // namespace
}  // namespace penstock::http
