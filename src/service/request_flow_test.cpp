#include "service/request_flow.hpp"

#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

// The state machine without a store: each state, each answer and each failure.
namespace penstock::service {
namespace {

using rules::MatchedLimit;
using rules::OnFailure;
using rules::Rule;
using State = RequestFlow::State;

struct RequestFlowTest : ::testing::Test {
  inline static const Rule kUser{.domain = "api", .name = "user"};
  inline static const Rule kClosed{
      .domain = "api", .name = "closed", .on_failure = OnFailure::Closed};
  inline static const Rule kLocal{.domain = "api", .name = "local", .on_failure = OnFailure::Local};
  inline static const Rule kStrict{.domain = "api", .name = "strict", .count_denied = true};
  inline static const Rule kShadow{.domain = "api", .name = "shadow", .shadow = true};
  inline static const Rule kQuotaA{.domain = "api", .name = "quota-a", .quota_mode = true};
  inline static const Rule kQuotaB{
      .domain = "api", .name = "quota-b", .on_failure = OnFailure::Closed, .quota_mode = true};
  inline static const Rule kQuotaLocal{
      .domain = "api", .name = "quota-local", .on_failure = OnFailure::Local, .quota_mode = true};

  inline static const Decision kPass = Decision::allow(9, 5, std::chrono::seconds{9});
  inline static const Decision kDeny =
      Decision::deny(9, 1, std::chrono::seconds{3}, std::chrono::seconds{9});

  static MatchedLimit refund_of(const Rule& rule) {
    MatchedLimit limit = matched_limit(rule, 9);
    limit.is_refund = true;
    return limit;
  }

  static MatchedLimit zero_limit(const Rule& rule) {
    MatchedLimit limit = matched_limit(rule, 9);
    limit.check.quota = Quota::none(Days{300});
    return limit;
  }

  RequestFlow flow_of(std::vector<MatchedLimit> limits) {
    return {service.local, service.clock, TestService::answer_with(std::move(limits))};
  }
  // "check 0 1 cost 0; background: refund 0": the next call, which is the last call from then on.
  std::string next(RequestFlow& flow) {
    call = flow.next();
    std::string text = call ? text_of(flow, *call) : "done";
    for (const StoreCall& each : flow.background()) text += "; background: " + text_of(flow, each);
    return text;
  }
  // Answers the last call with the same decision for all limits.
  void answer(RequestFlow& flow, const Decision& decision) const {
    flow.on_decisions(*call, std::vector<Decision>(flow.checks_of(*call).size(), decision));
  }
  void fail(RequestFlow& flow) const { flow.on_failure(*call); }
  static std::string answer_of(RequestFlow& flow) { return service::text_of(flow.answer()); }

  TestService service;
  std::optional<StoreCall> call;

 private:
  static std::string text_of(const RequestFlow& flow, const StoreCall& call) {
    std::string text = call.operation == StoreCall::Operation::Check ? "check" : "refund";
    if (call.is_one_by_one()) text += " each of";
    flow.visit_limits(call, [&](std::uint32_t limit) { text += ' ' + std::to_string(limit); });
    if (call.cost) text += " cost " + std::to_string(call.cost->units);
    return text;
  }
};

TEST_F(RequestFlowTest, GoesThroughAllStatesInOrder) {
  RequestFlow flow =
      flow_of({matched_limit(kUser, 9), matched_limit(kClosed, 9), matched_limit(kQuotaA, 9),
               matched_limit(kQuotaB, 9), matched_limit(kShadow, 9), refund_of(kLocal)});
  EXPECT_EQ(flow.state(), State::Start);
  EXPECT_EQ(next(flow), "check 0 1");
  EXPECT_EQ(flow.state(), State::Enforced);
  answer(flow, kPass);
  EXPECT_EQ(next(flow), "check each of 2 3");
  EXPECT_EQ(flow.state(), State::Alternatives);
  answer(flow, kPass);
  EXPECT_EQ(next(flow), "check each of 4");
  EXPECT_EQ(flow.state(), State::Shadows);
  answer(flow, kDeny);
  EXPECT_EQ(next(flow), "refund 5");
  EXPECT_EQ(flow.state(), State::Refunds);
  answer(flow, kPass);
  EXPECT_EQ(next(flow), "done");
  EXPECT_EQ(flow.state(), State::Done);
  EXPECT_EQ(answer_of(flow),
            "allowed within_limits by 0: 5 left, 5 left, 5 left, 5 left, shadow denied 1 left, 5 "
            "left");
}

TEST_F(RequestFlowTest, IsDoneAtOnceWithoutLimits) {
  RequestFlow flow = flow_of({});
  EXPECT_EQ(next(flow), "done");
  EXPECT_EQ(flow.state(), State::Done);
  EXPECT_EQ(answer_of(flow), "allowed no_rule");
}

TEST_F(RequestFlowTest, ADenialSkipsAlternativesAndShadowsAndStillRefunds) {
  RequestFlow flow = flow_of({matched_limit(kUser, 9), matched_limit(kQuotaA, 9),
                              matched_limit(kShadow, 9), refund_of(kLocal)});
  next(flow);
  answer(flow, kDeny);
  EXPECT_EQ(next(flow), "refund 3");
  answer(flow, kPass);
  next(flow);
  EXPECT_EQ(answer_of(flow),
            "denied over_limit by 0: denied 1 left, not checked, shadow not checked, 5 left");
}

TEST_F(RequestFlowTest, ADenialChargesCountDeniedInTheBackground) {
  RequestFlow flow = flow_of({matched_limit(kStrict, 9, 4), matched_limit(kUser, 9, 4)});
  next(flow);
  answer(flow, kDeny);
  EXPECT_EQ(next(flow), "done; background: check 0 cost 1");
  EXPECT_EQ(flow.state(), State::Done);
  EXPECT_EQ(answer_of(flow), "denied over_limit by 0: denied 0 left, denied 1 left");
}

TEST_F(RequestFlowTest, WhenAllAlternativesDenyTheEnforcedLimitsAreRefunded) {
  RequestFlow flow = flow_of({matched_limit(kUser, 9), matched_limit(kStrict, 9),
                              matched_limit(kQuotaA, 9), matched_limit(kShadow, 9)});
  next(flow);
  answer(flow, kPass);
  next(flow);
  answer(flow, kDeny);
  EXPECT_EQ(next(flow), "done; background: refund 0");
  EXPECT_EQ(flow.state(), State::Done);
  EXPECT_EQ(answer_of(flow),
            "denied over_limit by 2: 5 left, 5 left, denied 1 left, shadow not checked");
}

TEST_F(RequestFlowTest, ALimitOfZeroDeniesAndTheOthersArePeeked) {
  RequestFlow flow = flow_of({zero_limit(kUser), matched_limit(kClosed, 9, 6),
                              matched_limit(kStrict, 9, 2), refund_of(kLocal)});
  EXPECT_EQ(next(flow), "check 1 2 cost 0");
  EXPECT_EQ(flow.state(), State::Peeks);
  answer(flow, kPass);
  EXPECT_EQ(next(flow), "refund 3; background: check 2 cost 2");
  answer(flow, kPass);
  next(flow);
  EXPECT_EQ(answer_of(flow),
            "denied over_limit by 0: never_fits 0 left, denied 5 left, 5 left, 5 left");
}

TEST_F(RequestFlowTest, AFailedPeekLeavesTheDenial) {
  RequestFlow flow = flow_of({zero_limit(kUser), matched_limit(kStrict, 9)});
  next(flow);
  fail(flow);
  EXPECT_EQ(next(flow), "done");
  EXPECT_EQ(answer_of(flow), "denied over_limit by 0: never_fits 0 left, not checked");
}

TEST_F(RequestFlowTest, WhenTheEnforcedLimitsFailTheStoreIsNotCalledAgain) {
  const std::vector<MatchedLimit> others{matched_limit(kShadow, 9), refund_of(kQuotaB)};
  const auto answer_without_store = [&](const Rule& rule) {
    std::vector<MatchedLimit> limits{matched_limit(rule, 8)};
    limits.insert(limits.end(), others.begin(), others.end());
    RequestFlow flow = flow_of(limits);
    next(flow);
    fail(flow);
    EXPECT_EQ(next(flow), "done");
    EXPECT_EQ(flow.state(), State::Done);
    return answer_of(flow);
  };
  EXPECT_EQ(answer_without_store(kUser),
            "allowed failed_open: not checked, shadow not checked, not checked");
  EXPECT_EQ(answer_without_store(kClosed),
            "denied failed_closed: not checked, shadow not checked, not checked");
  EXPECT_EQ(answer_without_store(kLocal),
            "allowed decided_locally by 0: local 1 left, shadow not checked, not checked");
}

TEST_F(RequestFlowTest, AFailedAlternativeFollowsItsPolicyAndTheOthersCount) {
  const auto answer_with = [&](const Rule& failing, const Decision& other) {
    RequestFlow flow = flow_of({matched_limit(failing, 8), matched_limit(kQuotaA, 9)});
    next(flow);
    EXPECT_EQ(flow.state(), State::Alternatives);
    flow.on_failure({.limit = 0});
    flow.on_decisions({.limit = 1}, {&other, 1});
    next(flow);
    return answer_of(flow);
  };
  EXPECT_EQ(answer_with(kQuotaB, kPass), "allowed within_limits by 1: not checked, 5 left");
  EXPECT_EQ(answer_with(kQuotaB, kDeny), "denied over_limit by 1: not checked, denied 1 left");
  EXPECT_EQ(answer_with(kQuotaLocal, kDeny),
            "allowed decided_locally by 0: local 1 left, denied 1 left");
}

TEST_F(RequestFlowTest, AnOpenAlternativeThatFailsAllows) {
  RequestFlow flow = flow_of({matched_limit(kQuotaA, 9), matched_limit(kQuotaB, 9)});
  next(flow);
  fail(flow);
  next(flow);
  EXPECT_EQ(answer_of(flow), "allowed failed_open: not checked, not checked");
}

TEST_F(RequestFlowTest, AFailedShadowLimitOrRefundChangesNothing) {
  RequestFlow flow =
      flow_of({matched_limit(kUser, 9), matched_limit(kShadow, 9), refund_of(kClosed)});
  next(flow);
  answer(flow, kPass);
  for (const State state : {State::Shadows, State::Refunds}) {
    next(flow);
    ASSERT_EQ(flow.state(), state);
    fail(flow);
  }
  next(flow);
  EXPECT_EQ(answer_of(flow), "allowed within_limits by 0: 5 left, shadow not checked, not checked");
}

TEST_F(RequestFlowTest, FailedRefundsAloneFailOpen) {
  RequestFlow flow = flow_of({refund_of(kClosed)});
  EXPECT_EQ(next(flow), "refund 0");
  fail(flow);
  next(flow);
  EXPECT_EQ(answer_of(flow), "allowed failed_open: not checked");
}

TEST_F(RequestFlowTest, WithoutAStoreAllAlternativesThatDenyUndoWhatWasChargedLocally) {
  RequestFlow flow = flow_of({matched_limit(kLocal, 9), matched_limit(kQuotaB, 9)});
  flow.finish_without_store();
  EXPECT_EQ(flow.state(), State::Done);
  EXPECT_FALSE(flow.answer().allowed);
  EXPECT_TRUE(service.local.ledger().is_empty());
}

TEST_F(RequestFlowTest, RemembersWhatTheStoreSaysForTheLocalFallback) {
  RequestFlow flow = flow_of({matched_limit(kLocal, 9)});
  next(flow);
  answer(flow, Decision::allow(9, 0, std::chrono::hours{1}));
  next(flow);
  EXPECT_FALSE(service.local.check({matched_limit(kLocal, 9).check}).front().allowed());
}

TEST_F(RequestFlowTest, AChangeDuringTheCallKeepsItsDecisionFromBeingRemembered) {
  RequestFlow flow = flow_of({matched_limit(kLocal, 9)});
  next(flow);
  service.local.forget_store_state();
  answer(flow, Decision::allow(9, 0, std::chrono::hours{1}));
  next(flow);
  EXPECT_TRUE(service.local.check({matched_limit(kLocal, 9).check}).front().allowed());
}

}  // namespace
}  // namespace penstock::service
