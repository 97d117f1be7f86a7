#include "service/answer_at_once.hpp"
#include "service/failure_policy.hpp"
#include "service/request_flow.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace penstock::service {
namespace {

using rules::Applied;
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
    RC_ASSERT((plan.limits[i] == InPlace::Refuse) == (limits[i] == OnFailure::Closed));
    RC_ASSERT((plan.limits[i] == InPlace::AskLocally) ==
              (limits[i] == OnFailure::Local && !has(OnFailure::Closed)));
  }
}

struct Without : ::testing::Test {
  Without() { service.store.failure = Error{ErrorCode::Timeout, "no reply within 10 ms"}; }
  TestService service;
};

TEST_F(Without, StoreAnOpenLimitLetsPass) {
  EXPECT_EQ(text_of(service.decide({applied(kOpen, 1), applied(kShadowOpen, 1)})),
            "allowed failed_open: not asked, shadow not asked");
  EXPECT_EQ(service.events.failures, std::vector{ErrorCode::Timeout});
  EXPECT_EQ(service.store.calls.size(), 1U);  // and is not asked again
}

TEST_F(Without, StoreAlternativesFollowTheirOwnRules) {
  EXPECT_EQ(service.decide({applied(kOpen, 1), applied(kQuotaClosed, 1)}).reason,
            Reason::FailedClosed);
  EXPECT_TRUE(service.decide({applied(kOpen, 1), applied(kQuotaClosed, 1), applied(kQuotaOpen, 1)})
                  .allowed);
  EXPECT_TRUE(service.decide({applied(kOpen, 1), applied(kQuotaLocal, 1)}).limits[1].local);
}

TEST_F(Without, StoreAClosedLimitRefusesAndNothingIsTakenLocally) {
  EXPECT_EQ(text_of(service.decide({applied(kLocal, 4), applied(kClosed, 1), applied(kOpen, 1)})),
            "refused failed_closed: not asked, not asked, not asked");
  EXPECT_EQ(text_of(service.decide({applied(kLocal, 4)})),
            "allowed decided_locally by 0: local 0 left");
}

TEST_F(Without, StoreALocalLimitIsEnforcedByItsShare) {
  // eight for four nodes
  const std::vector<Applied> limits{applied(kOpen, 1), applied(kLocal, 8)};
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed decided_locally by 1: not asked, local 1 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "allowed decided_locally by 1: not asked, local 0 left");
  EXPECT_EQ(text_of(service.decide(limits)),
            "refused decided_locally by 1: not asked, local denied 0 left");
}

TEST_F(Without, StoreNothingIsTakenLocallyWhenAllAlternativesRefuse) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(service.decide({applied(kLocal, 8), applied(kQuotaClosed, 1)}).allowed);
  }
  EXPECT_TRUE(service.local.ledger().is_empty());
  EXPECT_EQ(text_of(service.decide({applied(kLocal, 8)})),
            "allowed decided_locally by 0: local 1 left");
}

TEST_F(Without, StoreALimitThatTravelledLetsPass) {
  Applied travelled = applied(kClosed, 1);
  travelled.rule = nullptr;
  EXPECT_EQ(text_of(service.decide({travelled})), "allowed failed_open: not asked");
}

TEST_F(Without, StoreShadowLimitsAloneRefuseNothing) {
  EXPECT_TRUE(service.decide({applied(kShadowOpen, 1)}).allowed);
}

TEST_F(Without, StoreAlternativesFollowTheirPolicies) {
  EXPECT_EQ(text_of(service.decide({applied(kQuotaOpen, 1), applied(kQuotaClosed, 1)})),
            "allowed failed_open: not asked, not asked");
  EXPECT_EQ(text_of(service.decide({applied(kQuotaClosed, 1)})),
            "refused failed_closed: not asked");
  EXPECT_EQ(text_of(service.decide({applied(kQuotaClosed, 1), applied(kQuotaLocal, 4)})),
            "allowed decided_locally by 1: not asked, local 0 left");
  EXPECT_FALSE(service.decide({applied(kQuotaClosed, 1), applied(kQuotaLocal, 4)}).allowed);
}

TEST_F(Without, StoreWhatIsGivenBackIsLostAndSaid) {
  Applied back = applied(kOpen, 1);
  back.gives_back = true;
  EXPECT_EQ(text_of(service.decide({back})), "allowed failed_open: not asked");
  EXPECT_EQ(service.events.failures.size(), 1U);
}

TEST_F(Without, StoreALookFollowsThePolicyAndTakesNothing) {
  EXPECT_EQ(text_of(service.look({applied(kOpen, 1)})), "allowed failed_open: not asked");
  EXPECT_EQ(text_of(service.look({applied(kClosed, 1)})), "refused failed_closed: not asked");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(text_of(service.look({applied(kLocal, 4)})),
              "allowed decided_locally by 0: local 1 left");
  }
}

TEST(StoreThatGoes, LeavesWhatItSaidOfLocalLimits) {
  for (const bool at_once : {false, true}) {
    TestService service;
    service.store.answers_at_once = at_once;
    const std::vector<Applied> limits{applied(kLocal, 8, 5), applied(kQuotaLocal, 8, 8)};
    const auto ask = [&](const Applied& limit) {
      Answer answer = TestService::with({limit});
      if (at_once && answer_at_once(service.colleagues(), "api", answer)) return answer;
      return service.decide({limit});
    };
    for (const Applied& limit : limits) EXPECT_TRUE(ask(limit).allowed);
    service.store.answers_at_once = false;
    service.store.failure = Error{ErrorCode::Unavailable, "gone"};
    // five of eight: two of this node's two
    EXPECT_EQ(text_of(service.decide({applied(kLocal, 8)})),
              "refused decided_locally by 0: local denied 0 left");
    EXPECT_FALSE(service.decide({applied(kQuotaLocal, 8)}).allowed);
  }
}

TEST(StoreThatGoes, LeavesNothingOfOtherLimits) {
  TestService service;
  EXPECT_TRUE(service.decide({applied(kOpen, 8, 5), applied(kClosed, 8, 5)}).allowed);
  EXPECT_EQ(service.local_memory.stats().keys, 0U);
}

TEST(PartlyFailing, AlternativeThatAnswersDecides) {
  TestService service;
  service.store.fails_for = [](const std::string& limit) { return limit == "quota-closed"; };
  const std::vector<Applied> limits{applied(kQuotaClosed, 1), applied(kQuotaOpen, 1)};
  EXPECT_EQ(text_of(service.decide(limits)), "allowed within_limits by 1: not asked, 0 left");
  EXPECT_EQ(service.decide(limits).reason, Reason::OverLimit);
}

TEST(PartlyFailing, ShadowLimitChangesNothing) {
  TestService service;
  service.store.fails_for = [](const std::string& limit) { return limit == "shadow"; };
  EXPECT_EQ(text_of(service.decide({applied(kOpen, 2), applied(kShadowOpen, 1)})),
            "allowed within_limits by 0: 1 left, shadow not asked");
}

}  // namespace
}  // namespace penstock::service
