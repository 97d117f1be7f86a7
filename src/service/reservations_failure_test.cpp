// Reservations with steps that the store does not answer: nothing is charged or refunded twice, and
// reservations match the answers to the client.
#include "service/reservations.hpp"
#include "service_harness/test_reservations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

namespace penstock::service {
namespace {

using namespace std::chrono_literals;

const Error kNoAnswer{ErrorCode::Timeout, "no answer in time"};

struct LastStep {
  rules::OnFailure on_failure;
  std::string told;
  Reason reason;
};

// Begin and check succeed; the record cannot be confirmed.
struct ReservationsWithoutLastStep : ReservationsTest, ::testing::WithParamInterface<LastStep> {
  const rules::Rule rule{.domain = "api", .name = "tokens", .on_failure = GetParam().on_failure};

  void SetUp() override {
    limits = {matched_limit(rule, 100)};
    test.store.steps_until_failure = 1;
  }
  // One answer was reported, and the client received it.
  void expect_told(const std::string& told) {
    EXPECT_EQ(told, GetParam().told);
    ASSERT_EQ(test.events.answers.size(), 1U);
    EXPECT_EQ(test.events.answers.front().reason, GetParam().reason);
    EXPECT_EQ(test.events.answers.front().allowed, told.starts_with("reserved"));
  }
};

TEST_P(ReservationsWithoutLastStep, RefundAndAnswerByPolicy) {
  for (const auto& failure : {std::optional<Error>{}, std::optional<Error>{kNoAnswer}}) {
    test.store.steps_until_failure = 1;
    test.store.step_failure = failure;
    test.events.answers.clear();
    expect_told(reserve("a", 10));
    EXPECT_EQ(left(), 100U);
    EXPECT_EQ(commit("a", 10), "unknown");
  }
}

TEST_P(ReservationsWithoutLastStep, AreReservedWhenOnlyTheAnswerWasLost) {
  test.store.failed_step_is_done = true;
  EXPECT_EQ(reserve("a", 20), "reserved a");
  ASSERT_EQ(test.events.answers.size(), 1U);
  EXPECT_EQ(test.events.answers.front().reason, Reason::WithinLimits);
  EXPECT_EQ(left(), 80U);
  EXPECT_EQ(commit("a", 5), "committed 5 of 20");
  EXPECT_EQ(left(), 95U);
}

// Neither the confirmation nor the drop is executed.
TEST_P(ReservationsWithoutLastStep, RefundWhenTheStoreIsBack) {
  test.store.steps_to_fail = 2;
  test.store.step_failure = kNoAnswer;
  expect_told(reserve("a", 20));
  EXPECT_EQ(left(), 80U);
  reservations.retry();
  reservations.retry();
  EXPECT_EQ(left(), 100U);
  EXPECT_EQ(commit("a", 20), "unknown");
}

// The drop is executed, and its answer is lost.
TEST_P(ReservationsWithoutLastStep, RefundOnceWhateverAnswerWasLost) {
  test.store.step_failure = kNoAnswer;
  test.store.steps_are_late = true;
  std::string told;
  reservations.reserve(TestService::answer_with(limits), "api", {.id = "a", .estimate = 20},
                       base::Deadline{}, [&](const auto& said) { told = text_of(said); });
  test.store.steps_until_failure = -1;
  test.store.answer_one();  // begin
  test.store.steps_until_failure = 0;
  test.store.answer_one();  // confirm
  test.store.steps_until_failure = 0;
  test.store.failed_step_is_done = true;
  test.store.answer_one();  // drop
  test.store.steps_are_late = false;
  expect_told(told);
  EXPECT_EQ(left(), 80U);
  reservations.retry();
  reservations.retry();
  EXPECT_EQ(left(), 100U);
}

// Both are executed but not answered: a client that named the id finds the reservation.
TEST_P(ReservationsWithoutLastStep, AreFoundByTheirIdWhenAllAnswersWereLost) {
  test.store.steps_to_fail = 2;
  test.store.failed_step_is_done = true;
  expect_told(reserve("a", 20));
  EXPECT_EQ(reserve("a", 20), "repeated a");
  reservations.retry();
  EXPECT_EQ(left(), 80U);
  EXPECT_EQ(commit("a", 5), "committed 5 of 20");
  EXPECT_EQ(left(), 95U);
}

TEST_P(ReservationsWithoutLastStep, AreCancelledWhenNobodyKnowsTheirId) {
  test.store.steps_to_fail = 2;
  test.store.failed_step_is_done = true;
  expect_told(reserve("", 20));
  EXPECT_EQ(left(), 80U);
  reservations.retry();
  EXPECT_EQ(left(), 100U);
}

INSTANTIATE_TEST_SUITE_P(
    AllPolicies, ReservationsWithoutLastStep,
    ::testing::Values(LastStep{rules::OnFailure::Open, "reserved ", Reason::FailedOpen},
                      LastStep{rules::OnFailure::Closed, "denied ", Reason::FailedClosed},
                      LastStep{rules::OnFailure::Local, "reserved ", Reason::DecidedLocally}));

// The enforced limit was charged; the alternative failed open; then the record cannot be confirmed.
TEST_F(ReservationsTest, RefundWhatWasChargedBesideAnAlternativeThatFailedOpen) {
  const rules::Rule closed{
      .domain = "api", .name = "tokens", .on_failure = rules::OnFailure::Closed};
  const rules::Rule alternative{.domain = "api", .name = "other", .quota_mode = true};
  limits = {matched_limit(closed, 100), matched_limit(alternative, 100)};
  test.store.fails_for = [](const std::string& limit) { return limit == "other"; };
  test.store.steps_until_failure = 1;
  EXPECT_EQ(reserve("a", 60), "denied ");
  EXPECT_EQ(left(), 100U);
  EXPECT_EQ(test.events.answers.back().reason, Reason::FailedClosed);
}

TEST_F(ReservationsTest, ThatPassByPolicyHaveNoIdAndDoNotAskAgain) {
  test.store.fails_for = [](const std::string&) { return true; };
  EXPECT_EQ(reserve("a", 60), "reserved ");
  EXPECT_EQ(test.store.step_deadlines.size(), 2U);  // begin and drop
  test.store.fails_for = {};
  EXPECT_EQ(reserve("a", 60), "reserved a");
  EXPECT_EQ(left(), 40U);
}

// A local decision that does not stand takes nothing from this node's share of the limit.
TEST_F(ReservationsTest, UndoALocalDecisionThatDoesNotStand) {
  const rules::Rule open{.domain = "api", .name = "tokens"};
  const rules::Rule alternative{
      .domain = "api", .name = "other", .on_failure = rules::OnFailure::Local, .quota_mode = true};
  limits = {matched_limit(open, 100), matched_limit(alternative, 100)};
  test.store.fails_for = [](const std::string& limit) { return limit == "other"; };
  test.store.steps_until_failure = 1;
  EXPECT_EQ(reserve("a", 20), "reserved ");  // by the share of one of four nodes: 25
  EXPECT_EQ(left(), 100U);
  limits = {matched_limit(alternative, 100)};
  test.store.failure = Error{ErrorCode::Unavailable, "down"};
  EXPECT_EQ(reserve("b", 5), "reserved ");  // 20 were taken once
  EXPECT_EQ(reserve("c", 1), "denied ");
}

// Each step has the whole timeout of the store.
TEST_F(ReservationsTest, HaveADeadlineForEachStep) {
  test.store_timeout = 1h;
  Reservations slow{test.deps()};
  const base::Deadline since = base::monotonic_now();
  slow.reserve(TestService::answer_with(limits), "api", {.id = "a", .estimate = 20},
               base::Deadline::max(), [](const auto&) {});
  ASSERT_EQ(test.store.step_deadlines.size(), 2U);
  ASSERT_EQ(test.store.calls.size(), 1U);
  EXPECT_GE(test.store.step_deadlines.front(), since + 1h);
  EXPECT_GE(test.store.calls.front().deadline, test.store.step_deadlines.front());
  EXPECT_GE(test.store.step_deadlines.back(), test.store.calls.front().deadline);
  EXPECT_LT(test.store.step_deadlines.back(), since + 2h);
}

TEST_F(ReservationsTest, WhoseSettlementWasNotAnsweredAreSettledOnce) {
  for (const bool is_done : {false, true}) {
    test.store.failed_step_is_done = is_done;
    test.store.step_failure = kNoAnswer;
    const std::string id = is_done ? "done" : "not done";
    EXPECT_EQ(reserve(id, 60), "reserved " + id);
    test.store.steps_until_failure = 0;
    EXPECT_EQ(cancel(id), "error no answer in time");
    EXPECT_EQ(left(), 40U);
    reservations.retry();
    reservations.retry();
    EXPECT_EQ(left(), 100U);
    EXPECT_EQ(cancel(id), "cancelled");
    EXPECT_EQ(left(), 100U);
  }
}

TEST_F(ReservationsTest, WhoseCommitWasNotAnsweredAreChargedOnce) {
  for (const std::uint64_t actual : {20U, 35U}) {
    for (const bool is_done : {false, true}) {
      const std::string id = std::to_string(actual) + (is_done ? " done" : " not done");
      const std::uint32_t before = left();
      test.store.failed_step_is_done = is_done;
      test.store.step_failure = kNoAnswer;
      EXPECT_EQ(reserve(id, 5), "reserved " + id);
      test.store.steps_until_failure = 0;
      EXPECT_EQ(commit(id, actual), "error no answer in time");
      const std::string again = commit(id, actual);  // before the retry
      EXPECT_TRUE(again.starts_with("committed")) << again;
      reservations.retry();
      reservations.retry();
      EXPECT_EQ(commit(id, actual),
                again.substr(0, again.find(',')) +
                    (before < actual ? ", not " + std::to_string(actual - before) : ""));
      EXPECT_EQ(left(), before < actual ? 0 : before - actual);
    }
  }
}

// A settlement that another call made is not made again by the one that was not answered.
TEST_F(ReservationsTest, AreNotSettledByACallThatCameTooLate) {
  EXPECT_EQ(reserve("a", 60), "reserved a");
  test.store.step_failure = kNoAnswer;
  test.store.steps_until_failure = 0;
  EXPECT_EQ(cancel("a"), "error no answer in time");
  EXPECT_EQ(commit("a", 50), "committed 50 of 60");
  reservations.retry();
  EXPECT_EQ(left(), 50U);
}

// What they hold is on its way back when the commit comes.
TEST_F(ReservationsTest, ThatExpireAreCommittedWhenTheirUnitsAreBack) {
  EXPECT_EQ(reserve("a", 100, 10s), "reserved a");
  test.store.advance(10s);
  test.store.is_late = true;
  reservations.sweep();
  EXPECT_EQ(commit("a", 70), "busy");
  EXPECT_EQ(cancel("a"), "expired");
  test.store.is_late = false;
  test.store.answer_late();
  EXPECT_EQ(commit("a", 70), "committed 70 of 100");
  EXPECT_EQ(left(), 30U);
}

TEST_F(ReservationsTest, ThatExpireAreCommittedWhenNotRefunded) {
  EXPECT_EQ(reserve("a", 60, 10s), "reserved a");
  test.store.advance(10s);
  test.store.is_late = true;  // and the daemon crashes
  reservations.sweep();
  test.store.is_late = false;
  EXPECT_EQ(commit("a", 30), "busy");
  test.store.advance(store::ReservationStore::kRefundTimeout);
  EXPECT_EQ(commit("a", 30), "committed 30 of 60");
  EXPECT_EQ(left(), 10U);
}

TEST_F(ReservationsTest, WhoseExpiryWasNotAnsweredAreRefundedOnce) {
  EXPECT_EQ(reserve("a", 60, 10s), "reserved a");
  test.store.advance(10s);
  test.store.steps_until_failure = 0;
  test.store.failed_step_is_done = true;
  reservations.sweep();
  EXPECT_EQ(left(), 40U);
  reservations.retry();
  reservations.retry();
  EXPECT_EQ(left(), 100U);
  EXPECT_EQ(commit("a", 10), "committed 10 of 60");
  EXPECT_EQ(left(), 90U);
}

// The store does not answer for so long that a commit no longer waits for the refund.
TEST_F(ReservationsTest, ThatWereCommittedBeforeTheirExpiryWasAnsweredAreRefundedToo) {
  EXPECT_EQ(reserve("a", 60, 10s), "reserved a");
  test.store.advance(10s);
  test.store.steps_until_failure = 0;
  test.store.failed_step_is_done = true;
  reservations.sweep();
  test.store.advance(store::ReservationStore::kRefundTimeout);
  EXPECT_EQ(commit("a", 30), "committed 30 of 60");
  EXPECT_EQ(left(), 10U);
  reservations.retry();
  reservations.retry();
  EXPECT_EQ(left(), 70U);
}

// One limit cannot be refunded for a while: the other one is refunded once all the same.
TEST_F(ReservationsTest, RefundEachLimitOnceWhenOneOfThemFails) {
  limits = {matched_limit(kTokens, 100), matched_limit(kBytes, 100)};
  EXPECT_EQ(reserve("a", 60), "reserved a");
  test.store.take({"s", "tokens"}, long_window(100), 40);
  test.store.fails_for = [](const std::string& limit) { return limit == "bytes"; };
  EXPECT_EQ(cancel("a"), "cancelled");
  reservations.retry();
  EXPECT_EQ(left(), 60U);
  test.store.fails_for = {};
  reservations.retry();
  reservations.retry();
  EXPECT_EQ(left(), 60U);
  EXPECT_EQ(left(kBytes), 100U);
}

// Calls with steps that are lost on the way to the store or back, in any order. When the store
// answers again, what was committed is used, and nothing else.
RC_GTEST_FIXTURE_PROP(ReservationsTest, AccountForEveryUnitWhateverIsLost, ()) {
  constexpr std::int64_t kLimit = 100'000;
  limits = {matched_limit(kTokens, kLimit)};
  std::map<std::string, std::set<std::uint64_t>> tried;  // actual costs, by id
  const auto draw_failures = [&] {
    test.store.steps_until_failure = *rc::gen::element(-1, -1, 0, 1, 2);
    test.store.steps_to_fail = *rc::gen::inRange(1, 4);
    test.store.failed_step_is_done = *rc::gen::arbitrary<bool>();
    test.store.step_failure =
        *rc::gen::arbitrary<bool>() ? std::optional<Error>{kNoAnswer} : std::nullopt;
  };
  const auto expire_all = [&] {
    test.store.advance(10s);
    reservations.sweep();
  };
  const int steps = *rc::gen::inRange(0, 40);
  for (int i = 0; i < steps; ++i) {
    const std::string id = std::to_string(*rc::gen::inRange(0, 4));
    const auto units = *rc::gen::inRange<std::uint64_t>(0, 50);
    draw_failures();
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
      case 1:
      case 2: reserve(*rc::gen::arbitrary<bool>() ? id : "", units, 10s); break;
      case 3:
      case 4:
        tried[id].insert(units);
        commit(id, units);
        break;
      case 5:
        test.store.fails_for = [fails = *rc::gen::arbitrary<bool>()](const auto&) { return fails; };
        cancel(id);
        test.store.fails_for = {};
        break;
      case 6: reservations.retry(); break;
      default:
        if (i < 20) expire_all();
        break;
    }
  }
  test.store.steps_until_failure = -1;
  for (int i = 0; i < 3; ++i) {
    reservations.retry();
    expire_all();
  }
  std::uint64_t used = 0;
  for (const auto& [id, costs] : tried) {
    for (const std::uint64_t actual : costs) {
      // of one that expired this is the commit
      if (commit(id, actual).starts_with("committed")) used += actual;
    }
  }
  RC_ASSERT(left(kTokens, kLimit) + used == static_cast<std::uint64_t>(kLimit));
}

}  // namespace
}  // namespace penstock::service
