// Limits of 0: bans of envoyproxy/ratelimit, in rules and in requests.
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

using rules::MatchedLimit;
using rules::Rule;
using std::chrono::minutes;

const Rule kBan{.domain = "api", .name = "ban"};
const Rule kShadowBan{.domain = "api", .name = "shadow-ban", .shadow = true};
const Rule kNoQuota{.domain = "api", .name = "no-quota", .quota_mode = true};
const Rule kTriedQuota{.domain = "api", .name = "shadow-quota", .shadow = true, .quota_mode = true};
const Rule kOther{.domain = "api", .name = "other"};
const Rule kCounting{.domain = "api", .name = "counting", .count_denied = true};
const Rule kQuota{.domain = "api", .name = "quota", .quota_mode = true};
const Rule kFailClosedQuota{.domain = "api",
                            .name = "closed-quota",
                            .on_failure = rules::OnFailure::Closed,
                            .quota_mode = true};

MatchedLimit none(const Rule& rule, std::uint64_t cost = 1) {
  MatchedLimit made = matched_limit(rule, 1, cost);
  made.check.quota = Quota::none(std::chrono::hours{1});
  return made;
}

TEST(ZeroLimits, DenyWithoutTheStoreAndSayWhenTheirWindowEnds) {
  TestService service;
  service.clock.set(Instant{Days{20'000}} + minutes{45});
  const Answer answer = service.decide({none(kBan)});
  EXPECT_EQ(text_of(answer), "denied over_limit by 0: never_fits 0 left");
  EXPECT_EQ(answer.limits[0].decision->limit(), 0U);
  EXPECT_EQ(answer.limits[0].decision->reset_after(), minutes{15});
  EXPECT_EQ(text_of(service.dry_run({none(kBan)})), text_of(answer));
  EXPECT_TRUE(service.store.calls.empty());
  EXPECT_EQ(service.events.answers.size(), 1U);
}

TEST(ZeroLimits, TellTheNumbersOfTheOtherLimitsAndChargeNone) {
  TestService service;
  EXPECT_TRUE(service.decide({matched_limit(kOther, 3, 2)}).allowed);
  const std::vector<MatchedLimit> limits{matched_limit(kOther, 3, 2), none(kBan),
                                         matched_limit(kQuota, 9), matched_limit(kShadowBan, 5)};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(service.decide(limits)),
              "denied over_limit by 1: denied 1 left, never_fits 0 left, 9 left, shadow 5 left");
  }
  EXPECT_EQ(service.store.remaining({"s", "other"}, long_window(3)), 1U);
  EXPECT_EQ(service.store.remaining({"s", "quota"}, long_window(9)), 9U);
}

TEST(ZeroLimits, ChargeWhatRulesWantOfADeniedRequest) {
  TestService service;
  EXPECT_FALSE(service.decide({matched_limit(kCounting, 5, 2), none(kBan)}).allowed);
  EXPECT_EQ(service.store.remaining({"s", "counting"}, long_window(5)), 3U);
}

TEST(ZeroLimits, DenyWhenTheStoreIsUnavailable) {
  TestService service;
  service.store.failure = Error{ErrorCode::Unavailable, "down"};
  const std::vector<MatchedLimit> limits{matched_limit(kOther, 3), none(kBan)};
  EXPECT_EQ(text_of(service.decide(limits)),
            "denied over_limit by 1: not checked, never_fits 0 left");
  EXPECT_EQ(text_of(service.dry_run(limits)),
            "denied over_limit by 1: not checked, never_fits 0 left");
}

TEST(ZeroLimits, DenyAPeekAndAcceptRefunds) {
  TestService service;
  EXPECT_EQ(text_of(service.decide({none(kBan, 0)})), "denied over_limit by 0: never_fits 0 left");
  MatchedLimit back = none(kBan);
  back.is_refund = true;
  EXPECT_EQ(text_of(service.decide({back})), "allowed within_limits by 0: 0 left");
  EXPECT_TRUE(service.store.calls.empty());
}

TEST(ZeroLimits, DenyNothingInShadowMode) {
  TestService service;
  EXPECT_EQ(text_of(service.decide({none(kShadowBan), matched_limit(kOther, 3)})),
            "allowed within_limits by 1: shadow never_fits 0 left, 2 left");
}

TEST(ZeroLimits, InQuotaModeDenyOnlyWhereNoOtherQuotaAllows) {
  TestService service;
  EXPECT_EQ(text_of(service.decide({matched_limit(kOther, 9), none(kNoQuota)})),
            "denied over_limit by 1: 9 left, never_fits 0 left");
  const std::vector<MatchedLimit> beside{none(kNoQuota), matched_limit(kQuota, 1)};
  EXPECT_EQ(text_of(service.decide(beside)),
            "allowed within_limits by 1: never_fits 0 left, 0 left");
  EXPECT_FALSE(service.decide(beside).allowed);
  EXPECT_TRUE(service.decide({none(kNoQuota), none(kTriedQuota)}).allowed);
  EXPECT_TRUE(service.decide({none(kNoQuota), matched_limit(kFailClosedQuota, 1)}).allowed)
      << "a quota that was not checked yet has not failed";
}

}  // namespace
}  // namespace penstock::service
