#include "service/decide.hpp"

#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

using rules::MatchedLimit;
using rules::Rule;

const Rule kUser{.domain = "api", .name = "user"};
const Rule kOrganisation{.domain = "api", .name = "organisation"};
const Rule kShadow{.domain = "api", .name = "shadow", .shadow = true};
const Rule kShadow2{.domain = "api", .name = "shadow2", .shadow = true};
const Rule kQuotaA{.domain = "api", .name = "quota-a", .quota_mode = true};
const Rule kQuotaB{.domain = "api", .name = "quota-b", .quota_mode = true};
const Rule kClosedQuota{.domain = "api",
                        .name = "closed-quota",
                        .on_failure = rules::OnFailure::Closed,
                        .quota_mode = true};
const Rule kShadowQuota{
    .domain = "api", .name = "shadow-quota", .shadow = true, .quota_mode = true};
const Rule kStrict{.domain = "api", .name = "strict", .count_denied = true};

TEST(Decide, AllowsUnlimitedRequests) {
  TestService service;
  EXPECT_EQ(text_of(service.decide({})), "allowed no_rule");
  EXPECT_TRUE(service.store.calls.empty());
  EXPECT_EQ(service.events.domains, std::vector<std::string>{"api"});
}

TEST(Decide, ChecksAllEnforcedLimitsInOneCallAllOrNothing) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kUser, 1), matched_limit(kOrganisation, 9)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 0: 0 left, 8 left");
  EXPECT_EQ(text_of(service.decide(limits)), "denied over_limit by 0: denied 0 left, 8 left");
  EXPECT_EQ(service.store.calls.size(), 2U);
  EXPECT_EQ(service.events.calls, 2);
}

TEST(Decide, AppliesListsWithoutAStoreCall) {
  for (const rules::Action action : {rules::Action::Allow, rules::Action::Deny}) {
    TestService service;
    const Rule entry{.domain = "api", .name = "list", .action = action};
    Answer start = TestService::answer_with({matched_limit(kUser, 1)});
    start.match.list_entry = &entry;
    std::optional<Answer> answer;
    service::decide(service.deps(), std::move(start), "api", {},
                    [&](Answer said) { answer = std::move(said); });
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->allowed, action == rules::Action::Allow);
    EXPECT_EQ(answer->reason,
              action == rules::Action::Allow ? Reason::AllowListed : Reason::DenyListed);
    EXPECT_TRUE(service.store.calls.empty());
  }
}

TEST(Decide, AllStoreCallsShareOneTimeout) {
  TestService service;
  service.store_timeout = std::chrono::milliseconds{10};
  service.store.is_late = true;
  rules::MatchedLimit back = matched_limit(kOrganisation, 5);
  back.is_refund = true;
  std::optional<Answer> answer;
  service::decide(service.deps(),
                  TestService::answer_with({matched_limit(kUser, 2), matched_limit(kQuotaA, 5),
                                            matched_limit(kShadow, 1), back}),
                  "api", base::Deadline::max(), [&](Answer said) { answer = std::move(said); });
  const base::Deadline latest = base::deadline_after(service.store_timeout);
  service.store.answer_late();
  ASSERT_TRUE(answer);
  ASSERT_EQ(service.store.calls.size(), 4U);
  for (const TestStore::Call& call : service.store.calls) {
    EXPECT_LE(call.deadline, latest) << call.what;
  }
}

TEST(Decide, NeverEnforcesAShadowLimit) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kUser, 2), matched_limit(kShadow, 1),
                                         matched_limit(kShadow2, 5)};
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits by 0: 1 left, shadow 0 left, shadow 4 left");
  // one that denies does not keep the other from counting
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits by 0: 0 left, shadow denied 0 left, shadow 3 left");
  // and a denied request does not count in them
  EXPECT_EQ(text_of(service.decide(limits)),
            "denied over_limit by 0: denied 0 left, shadow not checked, shadow not checked");
  EXPECT_EQ(service.store.remaining({"s", "shadow2"}, long_window(5)), 3U);
}

TEST(Decide, AlternativesDenyOnlyWhenAllOfThemDeny) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kUser, 9), matched_limit(kQuotaA, 1),
                                         matched_limit(kQuotaB, 2)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 1: 8 left, 0 left, 1 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits by 2: 7 left, denied 0 left, 0 left");
  const Answer refused = service.decide(limits);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.reason, Reason::OverLimit);
  // the enforced limit has its unit back
  EXPECT_EQ(service.store.remaining({"s", "user"}, long_window(9)), 7U);
}

TEST(Decide, AnAlternativeInShadowModeKeepsTheOthersFromDenying) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kQuotaA, 1), matched_limit(kShadowQuota, 1)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 0: 0 left, shadow 0 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits: denied 0 left, shadow denied 0 left");
  EXPECT_TRUE(service.dry_run(limits).allowed);
  EXPECT_FALSE(service.decide({matched_limit(kQuotaA, 1)}).allowed);
}

TEST(Decide, AnAlternativeInShadowModeAllowsWhenTheStoreIsUnavailable) {
  TestService service;
  service.store.failure = Error{ErrorCode::Unavailable, "down"};
  const std::vector<MatchedLimit> limits{matched_limit(kClosedQuota, 1),
                                         matched_limit(kShadowQuota, 1)};
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed failed_open: not checked, shadow not checked");
  EXPECT_TRUE(service.dry_run(limits).allowed);
  EXPECT_FALSE(service.decide({matched_limit(kClosedQuota, 1)}).allowed);
}

TEST(Decide, DoesNotChargeAlternativesWhenAnEnforcedLimitDenies) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kUser, 1), matched_limit(kQuotaA, 5)};
  EXPECT_TRUE(service.decide(limits).allowed);
  EXPECT_EQ(text_of(service.decide(limits)), "denied over_limit by 0: denied 0 left, not checked");
}

TEST(Decide, CountDeniedChargesTheRemainingUnits) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kStrict, 5, 4), matched_limit(kUser, 9, 4)};
  EXPECT_TRUE(service.decide(limits).allowed);
  EXPECT_FALSE(service.decide(limits).allowed);
  EXPECT_EQ(service.store.remaining({"s", "strict"}, long_window(5)), 0U);
  EXPECT_EQ(service.store.remaining({"s", "user"}, long_window(9)), 5U);
}

TEST(Decide, CountDeniedChargesTheCostWhenAnotherLimitDenies) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kStrict, 100, 2),
                                         matched_limit(kUser, 3, 2)};
  EXPECT_TRUE(service.decide(limits).allowed);
  EXPECT_FALSE(service.decide(limits).allowed);
  EXPECT_EQ(service.store.remaining({"s", "strict"}, long_window(100)), 96U);
}

TEST(Decide, RefundsWhateverIsDecided) {
  TestService service;
  EXPECT_TRUE(service.decide({matched_limit(kOrganisation, 9, 5)}).allowed);
  MatchedLimit back = matched_limit(kOrganisation, 9, 2);
  back.is_refund = true;
  EXPECT_EQ(text_of(service.decide({back})), "allowed within_limits by 0: 6 left");
  EXPECT_EQ(text_of(service.decide({matched_limit(kUser, 1, 2), back})),
            "denied over_limit by 0: never_fits 1 left, 8 left");
}

TEST(Decide, EnforcesARequestLimit) {
  TestService service;
  MatchedLimit travelled = matched_limit(kUser, 1);
  travelled.rule = nullptr;
  EXPECT_TRUE(service.decide({travelled}).allowed);
  EXPECT_EQ(text_of(service.decide({travelled})), "denied over_limit by 0: denied 0 left");
}

TEST(Decide, ChecksOfTheSameKeyMustFitWithTheirSum) {
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(kUser, 5, 1), matched_limit(kUser, 9, 2)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 0: 4 left, 6 left");
  EXPECT_EQ(text_of(service.decide(limits)), "denied over_limit by 0: denied 2 left, 6 left");
}

TEST(Decide, PassesTheCallersDeadlineToTheStore) {
  TestService service;
  EXPECT_TRUE(service.decide({matched_limit(kUser, 5), matched_limit(kShadow, 5)}).allowed);
  ASSERT_EQ(service.store.calls.size(), 2U);
  for (const TestStore::Call& call : service.store.calls) {
    EXPECT_EQ(call.deadline, base::Deadline{} + std::chrono::hours{1});
  }
}

TEST(Decide, AnswersTheSameWhenTheStoreIsLate) {
  TestService service;
  service.store.is_late = true;
  MatchedLimit back = matched_limit(kOrganisation, 9, 2);
  back.is_refund = true;
  std::vector<std::optional<Answer>> answers(3);
  for (std::optional<Answer>& answer : answers) {
    service.decide_later(
        {matched_limit(kUser, 2), matched_limit(kQuotaA, 9), matched_limit(kQuotaB, 9),
         matched_limit(kShadow, 1), matched_limit(kShadow2, 9), back},
        answer);
    EXPECT_FALSE(answer.has_value());
  }
  service.store.answer_late();
  for (const std::optional<Answer>& answer : answers) ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(text_of(*answers[0]),
            "allowed within_limits by 0: 1 left, 8 left, 8 left, shadow 0 left, shadow 8 left, 9 "
            "left");
  EXPECT_TRUE(answers[1]->allowed);
  EXPECT_FALSE(answers[2]->allowed);
  EXPECT_EQ(service.events.answers.size(), 3U);
}

TEST(Decide, ReportsWhichLimitBlocks) {
  TestService service;
  service.store.block_now({"s", "user"});
  EXPECT_EQ(text_of(service.decide({matched_limit(kOrganisation, 2), matched_limit(kUser, 2)})),
            "denied over_limit by 1: 2 left, blocked 0 left");
}

}  // namespace
}  // namespace penstock::service
