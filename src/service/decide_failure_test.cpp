#include "service/failure_policy.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace penstock::service {
namespace {

using rules::MatchedLimit;
using rules::OnFailure;
using rules::Rule;

const Rule kOpen{.domain = "api", .name = "open"};
const Rule kClosed{.domain = "api", .name = "closed", .on_failure = OnFailure::Closed};
const Rule kLocal{.domain = "api", .name = "local", .on_failure = OnFailure::Local};
const Rule kShadowOpen{
    .domain = "api", .name = "shadow", .on_failure = OnFailure::Closed, .shadow = true};
const Rule kQuotaOpen{.domain = "api", .name = "quota-open", .quota_mode = true};
const Rule kQuotaClosed{
    .domain = "api", .name = "quota-closed", .on_failure = OnFailure::Closed, .quota_mode = true};
const Rule kQuotaLocal{
    .domain = "api", .name = "quota-local", .on_failure = OnFailure::Local, .quota_mode = true};

RC_GTEST_PROP(FailurePolicy, IsClosedThenLocalThenOpen, (const std::vector<int>& numbers)) {
  std::vector<OnFailure> limits;
  for (const int number : numbers) {
    limits.push_back(static_cast<OnFailure>(static_cast<unsigned>(number) % 3U));
  }
  const auto has = [&](OnFailure each) {
    return std::count(limits.begin(), limits.end(), each) > 0;
  };
  const FailurePlan plan = plan_for_failure(limits);
  RC_ASSERT(plan.limits.size() == limits.size());
  RC_ASSERT((plan.reason == Reason::FailedClosed) == has(OnFailure::Closed));
  RC_ASSERT((plan.reason == Reason::DecidedLocally) ==
            (has(OnFailure::Local) && !has(OnFailure::Closed)));
  for (std::size_t i = 0; i < limits.size(); ++i) {
    RC_ASSERT((plan.limits[i] == FailureAction::Deny) == (limits[i] == OnFailure::Closed));
    RC_ASSERT((plan.limits[i] == FailureAction::DecideLocally) ==
              (limits[i] == OnFailure::Local && !has(OnFailure::Closed)));
  }
}

struct StoreUnavailable : ::testing::Test {
  StoreUnavailable() { service.store.failure = Error{ErrorCode::Timeout, "no reply within 10 ms"}; }
  TestService service;
};

TEST_F(StoreUnavailable, AnOpenLimitAllows) {
  EXPECT_EQ(text_of(service.decide({matched_limit(kOpen, 1), matched_limit(kShadowOpen, 1)})),
            "allowed failed_open: not checked, shadow not checked");
  EXPECT_EQ(service.events.failures, std::vector{ErrorCode::Timeout});
  EXPECT_EQ(service.store.calls.size(), 1U);  // and is not called again
}

TEST_F(StoreUnavailable, AlternativesFollowTheirOwnRules) {
  EXPECT_EQ(service.decide({matched_limit(kOpen, 1), matched_limit(kQuotaClosed, 1)}).reason,
            Reason::FailedClosed);
  EXPECT_TRUE(service
                  .decide({matched_limit(kOpen, 1), matched_limit(kQuotaClosed, 1),
                           matched_limit(kQuotaOpen, 1)})
                  .allowed);
  EXPECT_TRUE(
      service.decide({matched_limit(kOpen, 1), matched_limit(kQuotaLocal, 1)}).limits[1].local);
}

TEST_F(StoreUnavailable, AClosedLimitDeniesAndNothingIsChargedLocally) {
  EXPECT_EQ(text_of(service.decide(
                {matched_limit(kLocal, 4), matched_limit(kClosed, 1), matched_limit(kOpen, 1)})),
            "denied failed_closed: not checked, not checked, not checked");
  EXPECT_EQ(text_of(service.decide({matched_limit(kLocal, 4)})),
            "allowed decided_locally by 0: local 0 left");
}

TEST_F(StoreUnavailable, ALocalLimitEnforcesItsShare) {
  // eight for four nodes
  const std::vector<MatchedLimit> limits{matched_limit(kOpen, 1), matched_limit(kLocal, 8)};
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed decided_locally by 1: not checked, local 1 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed decided_locally by 1: not checked, local 0 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "denied decided_locally by 1: not checked, local denied 0 left");
}

TEST_F(StoreUnavailable, NothingIsChargedLocallyWhenAllAlternativesDeny) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(
        service.decide({matched_limit(kLocal, 8), matched_limit(kQuotaClosed, 1)}).allowed);
  }
  EXPECT_TRUE(service.local.ledger().is_empty());
  EXPECT_EQ(text_of(service.decide({matched_limit(kLocal, 8)})),
            "allowed decided_locally by 0: local 1 left");
}

TEST_F(StoreUnavailable, ARequestLimitAllows) {
  MatchedLimit travelled = matched_limit(kClosed, 1);
  travelled.rule = nullptr;
  EXPECT_EQ(text_of(service.decide({travelled})), "allowed failed_open: not checked");
}

TEST_F(StoreUnavailable, ShadowLimitsDenyNothing) {
  EXPECT_TRUE(service.decide({matched_limit(kShadowOpen, 1)}).allowed);
}

TEST_F(StoreUnavailable, AlternativesFollowTheirPolicies) {
  EXPECT_EQ(text_of(service.decide({matched_limit(kQuotaOpen, 1), matched_limit(kQuotaClosed, 1)})),
            "allowed failed_open: not checked, not checked");
  EXPECT_EQ(text_of(service.decide({matched_limit(kQuotaClosed, 1)})),
            "denied failed_closed: not checked");
  EXPECT_EQ(
      text_of(service.decide({matched_limit(kQuotaClosed, 1), matched_limit(kQuotaLocal, 4)})),
      "allowed decided_locally by 1: not checked, local 0 left");
  EXPECT_FALSE(
      service.decide({matched_limit(kQuotaClosed, 1), matched_limit(kQuotaLocal, 4)}).allowed);
}

TEST_F(StoreUnavailable, RefundsAreLostAndReported) {
  MatchedLimit back = matched_limit(kOpen, 1);
  back.is_refund = true;
  EXPECT_EQ(text_of(service.decide({back})), "allowed failed_open: not checked");
  EXPECT_EQ(service.events.failures.size(), 1U);
}

TEST_F(StoreUnavailable, APeekFollowsThePolicyAndChargesNothing) {
  EXPECT_EQ(text_of(service.dry_run({matched_limit(kOpen, 1)})),
            "allowed failed_open: not checked");
  EXPECT_EQ(text_of(service.dry_run({matched_limit(kClosed, 1)})),
            "denied failed_closed: not checked");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(text_of(service.dry_run({matched_limit(kLocal, 4)})),
              "allowed decided_locally by 0: local 1 left");
  }
}

TEST(StoreOutage, LocalLimitsStartFromTheLastStoreState) {
  for (const bool at_once : {false, true}) {
    TestService service;
    service.store.answers_inline = at_once;
    const std::vector<MatchedLimit> limits{matched_limit(kLocal, 8, 5),
                                           matched_limit(kQuotaLocal, 8, 8)};
    for (const MatchedLimit& limit : limits) EXPECT_TRUE(service.decide({limit}).allowed);
    service.store.answers_inline = false;
    service.store.failure = Error{ErrorCode::Unavailable, "down"};
    // five of eight: two of this node's two
    EXPECT_EQ(text_of(service.decide({matched_limit(kLocal, 8)})),
              "denied decided_locally by 0: local denied 0 left");
    EXPECT_FALSE(service.decide({matched_limit(kQuotaLocal, 8)}).allowed);
  }
}

TEST(StoreOutage, OtherLimitsKeepNoStoreState) {
  TestService service;
  EXPECT_TRUE(service.decide({matched_limit(kOpen, 8, 5), matched_limit(kClosed, 8, 5)}).allowed);
  EXPECT_EQ(service.local_memory.stats().keys, 0U);
}

TEST(PartialStoreFailure, AlternativeThatAnswersDecides) {
  TestService service;
  service.store.fails_for = [](const std::string& limit) { return limit == "quota-closed"; };
  const std::vector<MatchedLimit> limits{matched_limit(kQuotaClosed, 1),
                                         matched_limit(kQuotaOpen, 1)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 1: not checked, 0 left");
  EXPECT_EQ(service.decide(limits).reason, Reason::OverLimit);
}

TEST(PartialStoreFailure, ShadowLimitChangesNothing) {
  TestService service;
  service.store.fails_for = [](const std::string& limit) { return limit == "shadow"; };
  EXPECT_EQ(text_of(service.decide({matched_limit(kOpen, 2), matched_limit(kShadowOpen, 1)})),
            "allowed within_limits by 0: 1 left, shadow not checked");
}

}  // namespace
}  // namespace penstock::service
