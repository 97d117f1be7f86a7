#include "service/request_flow.hpp"

#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

using rules::Applied;
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

TEST(RequestFlow, LetsPassWhatNothingLimits) {
  TestService service;
  EXPECT_EQ(text_of(service.decide({})), "allowed no_rule");
  EXPECT_TRUE(service.store.calls.empty());
  EXPECT_EQ(service.events.domains, std::vector<std::string>{"api"});
}

TEST(RequestFlow, AsksForAllEnforcedLimitsAtOnceAndTakesFromAllOrNone) {
  TestService service;
  const std::vector<Applied> limits{applied(kUser, 1), applied(kOrganisation, 9)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 0: 0 left, 8 left");
  EXPECT_EQ(text_of(service.decide(limits)), "refused over_limit by 0: denied 0 left, 8 left");
  EXPECT_EQ(service.store.calls.size(), 2U);
  EXPECT_EQ(service.events.calls, 2);
}

TEST(RequestFlow, ObeysListsWithoutAskingTheStore) {
  for (const rules::Action action : {rules::Action::Allow, rules::Action::Deny}) {
    TestService service;
    const Rule entry{.domain = "api", .name = "list", .action = action};
    Answer start = TestService::with({applied(kUser, 1)});
    start.match.listed_by = &entry;
    std::optional<Answer> answer;
    RequestFlow::start(service.colleagues(), start, "api", {},
                       [&](Answer said) { answer = std::move(said); });
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->allowed, action == rules::Action::Allow);
    EXPECT_EQ(answer->reason,
              action == rules::Action::Allow ? Reason::AllowListed : Reason::DenyListed);
    EXPECT_TRUE(service.store.calls.empty());
  }
}

TEST(RequestFlow, HasTheTimeOfOneCallForAllThatItWaitsFor) {
  TestService service;
  service.patience = std::chrono::milliseconds{10};
  service.store.is_late = true;
  rules::Applied back = applied(kOrganisation, 5);
  back.gives_back = true;
  std::optional<Answer> answer;
  RequestFlow::start(
      service.colleagues(),
      TestService::with({applied(kUser, 2), applied(kQuotaA, 5), applied(kShadow, 1), back}), "api",
      base::Deadline::max(), [&](Answer said) { answer = std::move(said); });
  const base::Deadline latest = base::deadline_after(service.patience);
  service.store.answer_late();
  ASSERT_TRUE(answer);
  ASSERT_EQ(service.store.calls.size(), 4U);
  for (const TestStore::Call& call : service.store.calls) {
    EXPECT_LE(call.deadline, latest) << call.what;
  }
}

TEST(RequestFlow, NeverEnforcesAShadowLimit) {
  TestService service;
  const std::vector<Applied> limits{applied(kUser, 2), applied(kShadow, 1), applied(kShadow2, 5)};
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits by 0: 1 left, shadow 0 left, shadow 4 left");
  // one that refuses does not keep the other from counting
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits by 0: 0 left, shadow denied 0 left, shadow 3 left");
  // and a refused request does not count in them
  EXPECT_EQ(text_of(service.decide(limits)),
            "refused over_limit by 0: denied 0 left, shadow not asked, shadow not asked");
  EXPECT_EQ(service.store.remaining({"s", "shadow2"}, so_many(5)), 3U);
}

TEST(RequestFlow, RefusesByAlternativesOnlyWhenAllOfThemRefuse) {
  TestService service;
  const std::vector<Applied> limits{applied(kUser, 9), applied(kQuotaA, 1), applied(kQuotaB, 2)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 1: 8 left, 0 left, 1 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits by 2: 7 left, denied 0 left, 0 left");
  const Answer refused = service.decide(limits);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.reason, Reason::OverLimit);
  // the enforced limit has its unit back
  EXPECT_EQ(service.store.remaining({"s", "user"}, so_many(9)), 7U);
}

TEST(RequestFlow, AnAlternativeInShadowModeKeepsTheOthersFromAllRefusing) {
  TestService service;
  const std::vector<Applied> limits{applied(kQuotaA, 1), applied(kShadowQuota, 1)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 0: 0 left, shadow 0 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed within_limits: denied 0 left, shadow denied 0 left");
  EXPECT_TRUE(service.look(limits).allowed);
  EXPECT_FALSE(service.decide({applied(kQuotaA, 1)}).allowed);
}

TEST(RequestFlow, AnAlternativeInShadowModeLetsPassWhenTheStoreIsUnavailable) {
  TestService service;
  service.store.failure = Error{ErrorCode::Unavailable, "down"};
  const std::vector<Applied> limits{applied(kClosedQuota, 1), applied(kShadowQuota, 1)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed failed_open: not asked, shadow not asked");
  EXPECT_TRUE(service.look(limits).allowed);
  EXPECT_FALSE(service.decide({applied(kClosedQuota, 1)}).allowed);
}

TEST(RequestFlow, DoesNotChargeAlternativesForWhatAnEnforcedLimitRefuses) {
  TestService service;
  const std::vector<Applied> limits{applied(kUser, 1), applied(kQuotaA, 5)};
  EXPECT_TRUE(service.decide(limits).allowed);
  EXPECT_EQ(text_of(service.decide(limits)), "refused over_limit by 0: denied 0 left, not asked");
}

TEST(RequestFlow, TakesWhatIsLeftForARefusedRequestWhereTheRuleSaysSo) {
  TestService service;
  const std::vector<Applied> limits{applied(kStrict, 5, 4), applied(kUser, 9, 4)};
  EXPECT_TRUE(service.decide(limits).allowed);
  EXPECT_FALSE(service.decide(limits).allowed);
  EXPECT_EQ(service.store.remaining({"s", "strict"}, so_many(5)), 0U);
  EXPECT_EQ(service.store.remaining({"s", "user"}, so_many(9)), 5U);
}

TEST(RequestFlow, TakesTheCostWhereAnotherLimitRefused) {
  TestService service;
  const std::vector<Applied> limits{applied(kStrict, 100, 2), applied(kUser, 3, 2)};
  EXPECT_TRUE(service.decide(limits).allowed);
  EXPECT_FALSE(service.decide(limits).allowed);
  EXPECT_EQ(service.store.remaining({"s", "strict"}, so_many(100)), 96U);
}

TEST(RequestFlow, GivesBackWhateverIsDecided) {
  TestService service;
  EXPECT_TRUE(service.decide({applied(kOrganisation, 9, 5)}).allowed);
  Applied back = applied(kOrganisation, 9, 2);
  back.gives_back = true;
  EXPECT_EQ(text_of(service.decide({back})), "allowed within_limits by 0: 6 left");
  EXPECT_EQ(text_of(service.decide({applied(kUser, 1, 2), back})),
            "refused over_limit by 0: never_fits 1 left, 8 left");
}

TEST(RequestFlow, EnforcesALimitThatTravelledWithTheRequest) {
  TestService service;
  Applied travelled = applied(kUser, 1);
  travelled.rule = nullptr;
  EXPECT_TRUE(service.decide({travelled}).allowed);
  EXPECT_EQ(text_of(service.decide({travelled})), "refused over_limit by 0: denied 0 left");
}

TEST(RequestFlow, AsksOnceAboutACountThatIsNamedTwice) {
  TestService service;
  const std::vector<Applied> limits{applied(kUser, 5, 1), applied(kUser, 5, 2)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 0: 2 left, 2 left");
  EXPECT_EQ(service.store.calls.front().checks.size(), 1U);
}

TEST(RequestFlow, TellsTheStoreTheCallersDeadline) {
  TestService service;
  EXPECT_TRUE(service.decide({applied(kUser, 5), applied(kShadow, 5)}).allowed);
  ASSERT_EQ(service.store.calls.size(), 2U);
  for (const TestStore::Call& call : service.store.calls) {
    EXPECT_EQ(call.deadline, base::Deadline{} + std::chrono::hours{1});
  }
}

TEST(RequestFlow, AnswersTheSameWhenTheStoreIsLate) {
  TestService service;
  service.store.is_late = true;
  Applied back = applied(kOrganisation, 9, 2);
  back.gives_back = true;
  std::vector<std::optional<Answer>> answers(3);
  for (std::optional<Answer>& answer : answers) {
    service.decide_later({applied(kUser, 2), applied(kQuotaA, 9), applied(kQuotaB, 9),
                          applied(kShadow, 1), applied(kShadow2, 9), back},
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

TEST(RequestFlow, SaysWhichLimitBlocks) {
  TestService service;
  service.store.block_now({"s", "user"});
  EXPECT_EQ(text_of(service.decide({applied(kOrganisation, 2), applied(kUser, 2)})),
            "refused over_limit by 1: 2 left, blocked 0 left");
}

}  // namespace
}  // namespace penstock::service
