#include "lease/holding.hpp"

#include <gtest/gtest.h>

#include <array>

namespace penstock::lease {
namespace {

using core::Mode;
using namespace std::chrono_literals;

// Counts what it is told.
class Waiter final : public Waiting {
 public:
  void on_answer(const Result<Decision>& answer, const Taken& from) override {
    ++answers;
    taken = from;
    allowed = answer && answer->allowed();
    error = answer ? std::nullopt : std::optional(answer.error().code);
  }

  int answers = 0;
  bool allowed = false;
  std::optional<ErrorCode> error;
  Taken taken{};
};

constexpr Quota kBucket = per_second(1000).burst(100);
const core::CountName kName{.subject = "somebody", .limit = "limit"};

class HoldingTest : public testing::Test {
 protected:
  void begin(Mode mode, const Quota& quota = kBucket) {
    holding_.emplace(kName, quota, core::Terms{.mode = mode}, now_);
  }

  void wait(Waiter& waiter, std::uint64_t cost) {
    ASSERT_FALSE(holding_->take(Cost{cost}, now_));
    holding_->wait(waiter, Cost{cost}, Holding::Use::MayBePutBack);
  }
  void wait_for_the_store(Waiter& waiter, std::uint64_t cost) {
    ASSERT_FALSE(holding_->take(Cost{cost}, now_));
    holding_->wait(waiter, Cost{cost}, Holding::Use::Final);
  }
  store::LeaseAsk ask() {
    EXPECT_TRUE(holding_->wants_to_ask(now_));
    return holding_->ask(1, now_);
  }
  void hear(const Result<store::LeaseGrant>& grant) {
    Answers answers;
    holding_->on_grant(grant, now_, answers);
    for (const Answer& answer : answers) answer.tell();
  }
  // Somebody asks for one, and gets so many; one is spent at once.
  void grant(std::uint32_t units, const Decision& afterwards = Decision::allow(100, 50, 50ms)) {
    if (!holding_->is_strict()) return grant_ahead(units, afterwards);
    Waiter waiter;
    wait(waiter, 1);
    static_cast<void>(ask());
    hear(store::LeaseGrant{.granted = units, .epoch = 7, .afterwards = afterwards});
    ASSERT_TRUE(waiter.allowed);
  }
  // Nobody waits for a lease that is not strict.
  void grant_ahead(std::uint32_t units, const Decision& afterwards,
                   Duration counts_for = Duration::max()) {
    static_cast<void>(holding_->ask(1, now_));
    hear(store::LeaseGrant{.granted = units, .counts_for = counts_for, .afterwards = afterwards});
    ASSERT_TRUE(takes(1));
  }
  bool takes(std::uint64_t cost) {
    const auto said = holding_->take(Cost{cost}, now_);
    return said && said->allowed();
  }

  base::Deadline now_{std::chrono::seconds{100}};
  std::optional<Holding> holding_;
};

TEST_F(HoldingTest, FirstRequestAsksForItself) {
  begin(Mode::LeaseStrict);
  Waiter waiter;
  wait(waiter, 3);
  const store::LeaseAsk asked = ask();
  EXPECT_EQ(asked.lease.need, 3U);
  EXPECT_EQ(asked.lease.want, 3U);
  EXPECT_EQ(asked.count, 0U) << "another limit may deny it";
  EXPECT_EQ(asked.strict_lifetime, 100ms);
  EXPECT_FALSE(holding_->wants_to_ask(now_)) << "one call at a time";
}

TEST_F(HoldingTest, ServesThoseWhoWaitInTheirOrder) {
  begin(Mode::LeaseStrict);
  std::array<Waiter, 3> waiters;
  wait(waiters[0], 3);
  static_cast<void>(ask());
  wait(waiters[1], 4);
  wait(waiters[2], 1);
  hear(store::LeaseGrant{.granted = 5, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(waiters[0].allowed);
  EXPECT_EQ(waiters[1].answers, 0) << "too little for it, and nobody knows whether there is more";
  EXPECT_EQ(waiters[2].answers, 0) << "came later";
  EXPECT_FALSE(holding_->take(Cost{1}, now_)) << "nobody overtakes who waits";
  EXPECT_EQ(ask().lease.need, 2U) << "two are in hand";
  hear(store::LeaseGrant{.granted = 3, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(waiters[1].allowed);
  EXPECT_TRUE(waiters[2].allowed);
}

TEST_F(HoldingTest, ARefusalAnswersEverybodyWhomItConcerns) {
  begin(Mode::LeaseStrict);
  std::array<Waiter, 3> waiters;
  wait(waiters[0], 5);
  static_cast<void>(ask());
  wait(waiters[1], 6);
  wait(waiters[2], 2);
  // 5 are there in 3 ms, and so 2 are there now
  hear(store::LeaseGrant{.granted = 0, .afterwards = Decision::deny(100, 2, 98ms, 3ms)});
  EXPECT_EQ(waiters[0].answers, 1);
  EXPECT_FALSE(waiters[0].allowed);
  EXPECT_EQ(waiters[1].answers, 1);
  EXPECT_FALSE(waiters[1].allowed);
}

TEST_F(HoldingTest, IsOverOneLifetimeAfterItWasAskedFor) {
  begin(Mode::Lease);
  static_cast<void>(holding_->ask(1, now_));
  now_ += 60ms;  // until the answer
  hear(store::LeaseGrant{.granted = 10, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(takes(1));
  now_ += 39ms;
  EXPECT_TRUE(takes(1));
  now_ += 1ms;
  EXPECT_EQ(holding_->in_hand(now_), 0U);
}

TEST_F(HoldingTest, AnswerThatComesTooLateIsNotSpent) {
  begin(Mode::LeaseStrict);
  Waiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());
  now_ += 100ms;
  hear(store::LeaseGrant{.granted = 10, .epoch = 7, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_EQ(waiter.error, ErrorCode::Timeout);
  wait(waiter, 1);
  const store::LeaseAsk again = ask();
  ASSERT_EQ(again.reports.size(), 1U);
  EXPECT_EQ(again.reports[0], (store::LeaseReport{.epoch = 7, .spent = 0, .returned = 10}));
}

TEST_F(HoldingTest, WindowLeaseEndsWithItsWindow) {
  begin(Mode::Lease, per(100, 1s).fixed_window());
  grant_ahead(10, Decision::allow(100, 9, 20ms), 20ms);
  now_ += 19ms;
  EXPECT_TRUE(takes(1));
  now_ += 1ms;
  EXPECT_EQ(holding_->in_hand(now_), 0U);
}

TEST_F(HoldingTest, StrictLeasesTellOnceWhatBecameOfThem) {
  begin(Mode::LeaseStrict);
  grant(10);
  EXPECT_TRUE(takes(2));
  now_ += 100ms;
  Waiter waiter;
  wait(waiter, 1);
  const store::LeaseAsk asked = ask();
  EXPECT_EQ(asked.strict_lifetime, 100ms);
  ASSERT_EQ(asked.reports.size(), 1U);
  EXPECT_EQ(asked.reports[0], (store::LeaseReport{.epoch = 7, .spent = 3, .returned = 7}));
  hear(store::LeaseGrant{.granted = 1, .epoch = 8, .afterwards = Decision::allow(100, 9, 1ms)});
  wait(waiter, 1);
  ASSERT_EQ(ask().reports.size(), 1U) << "of the second lease alone";
}

// The epoch may be somebody else's by then, if the store's clock was set back.
TEST_F(HoldingTest, ReportsOfLeasesThatAreLongOverAreNotTold) {
  begin(Mode::LeaseStrict);
  grant(10);
  now_ += 310ms;  // nobody looked at it meanwhile
  Waiter waiter;
  wait(waiter, 1);
  EXPECT_TRUE(ask().reports.empty());
}

TEST_F(HoldingTest, ReportsAreRepeatedOnlyWhenNobodyHeardThem) {
  for (const auto& [code, repeated] : {std::pair{ErrorCode::Unavailable, 1U},
                                       {ErrorCode::Overloaded, 1U},
                                       {ErrorCode::Timeout, 0U},
                                       {ErrorCode::ConnectionLost, 0U}}) {
    begin(Mode::LeaseStrict);
    grant(1);
    Waiter waiter;
    wait(waiter, 1);
    ASSERT_EQ(ask().reports.size(), 1U);
    hear(Error{code, "failed"});
    EXPECT_EQ(waiter.error, code);
    wait(waiter, 1);
    EXPECT_EQ(ask().reports.size(), repeated) << to_string(code);
  }
}

TEST_F(HoldingTest, LeasesThatAreNotStrictTellNothing) {
  begin(Mode::Lease);
  grant(10);
  now_ += 200ms;
  EXPECT_FALSE(holding_->take(Cost{1}, now_)) << "the store decides";
  EXPECT_TRUE(holding_->ask(1, now_).reports.empty());
}

TEST_F(HoldingTest, WhatIsPutBackCanBeTakenAgain) {
  begin(Mode::Lease);
  grant(5);
  EXPECT_TRUE(takes(4));
  EXPECT_EQ(holding_->in_hand(now_), 0U);
  holding_->put_back(Cost{4}, holding_->last_taken(), now_);
  EXPECT_TRUE(takes(4));
}

TEST_F(HoldingTest, WhatWasTakenFromOneLeaseIsNotPutIntoAnother) {
  begin(Mode::Lease);
  grant(5);
  EXPECT_TRUE(takes(3));
  const Holding::Taken taken = holding_->last_taken();
  now_ += 100ms;  // that lease is over
  grant(5);
  EXPECT_TRUE(takes(3));
  const std::uint32_t before = holding_->in_hand(now_);
  holding_->put_back(Cost{3}, taken, now_);
  EXPECT_EQ(holding_->in_hand(now_), before);
}

TEST_F(HoldingTest, NobodyWaitsMuchLongerThanItsDeadline) {
  begin(Mode::LeaseStrict);
  Waiter first;
  Waiter late;
  wait(first, 1);
  static_cast<void>(ask());
  static_cast<void>(holding_->take(Cost{9}, now_));
  holding_->wait(late, Cost{9}, Holding::Use::Final, now_ + 1ms);
  now_ += 2ms;
  hear(store::LeaseGrant{.granted = 1, .afterwards = Decision::allow(10, 9, Duration{1})});
  EXPECT_EQ(late.error, ErrorCode::Timeout);
}

TEST_F(HoldingTest, WhatTheStoreWasToldOrIsOverCannotBePutBack) {
  begin(Mode::LeaseStrict);
  grant(5);
  EXPECT_TRUE(takes(4));
  const Holding::Taken taken = holding_->last_taken();
  Waiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());  // tells that they are spent
  holding_->put_back(Cost{4}, taken, now_);
  EXPECT_EQ(holding_->in_hand(now_), 0U);

  begin(Mode::Lease);
  grant(5);
  EXPECT_TRUE(takes(4));
  now_ += 100ms;
  holding_->put_back(Cost{4}, holding_->last_taken(), now_);
  EXPECT_EQ(holding_->in_hand(now_), 0U);
}

TEST_F(HoldingTest, DroppedLeasesAreNotSpentAndStrictOnesReturned) {
  begin(Mode::LeaseStrict);
  grant(10);
  holding_->drop(now_);
  EXPECT_EQ(holding_->in_hand(now_), 0U);
  Waiter waiter;
  wait(waiter, 1);
  EXPECT_EQ(ask().reports,
            (std::vector{store::LeaseReport{.epoch = 7, .spent = 1, .returned = 9}}));
}

TEST_F(HoldingTest, WhatWasAskedBeforeADropIsAskedAgain) {
  begin(Mode::LeaseStrict);
  Waiter waiter;
  wait(waiter, 2);
  static_cast<void>(ask());
  holding_->drop(now_);
  hear(store::LeaseGrant{.granted = 6, .epoch = 9, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_EQ(waiter.answers, 0);
  EXPECT_EQ(holding_->in_hand(now_), 0U);
  EXPECT_EQ(ask().reports,
            (std::vector{store::LeaseReport{.epoch = 9, .spent = 0, .returned = 6}}));
  hear(store::LeaseGrant{.granted = 2, .epoch = 9, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(waiter.allowed);
  EXPECT_EQ(waiter.answers, 1);
}

TEST_F(HoldingTest, OtherTermsBeginWithNothingInHand) {
  begin(Mode::Lease);
  grant(10);
  constexpr Quota kOther = per_second(2000).burst(100);
  holding_->adopt(kOther, {.mode = Mode::Lease}, now_);
  EXPECT_EQ(holding_->in_hand(now_), 0U);
  EXPECT_EQ(holding_->ask(1, now_).quota, kOther);
  holding_->adopt(kOther, {.mode = Mode::Lease}, now_);
  EXPECT_TRUE(holding_->is_asking()) << "the same terms change nothing";
}

TEST_F(HoldingTest, RefusesWithoutACallWhileTheStoreWould) {
  begin(Mode::LeaseStrict, per_hour(1));
  grant(1, Decision::deny(1, 0, 1h, 1h));
  const auto said = holding_->take(Cost{1}, now_ + 1ms);
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->allowed());
  EXPECT_FALSE(holding_->wants_to_ask(now_ + 1ms));
}

TEST_F(HoldingTest, PacesItsQuestionsWhenThereIsNextToNothing) {
  begin(Mode::LeaseStrict);
  grant(1, Decision::deny(100, 0, 100ms, 1ms));
  now_ += 3ms;  // three are there by now, and would be gone at once
  const auto said = holding_->take(Cost{1}, now_);
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->allowed());
  EXPECT_LE(*said->retry_after(), 4ms);
  now_ += *said->retry_after();
  EXPECT_FALSE(holding_->take(Cost{1}, now_)) << "asks";
}

TEST_F(HoldingTest, DoubtAsksAgainAtOnce) {
  begin(Mode::LeaseStrict, per_hour(1));
  grant(1, Decision::deny(1, 0, 1h, 1h));
  holding_->doubt();
  EXPECT_FALSE(holding_->take(Cost{1}, now_ + 1ms));
}

TEST_F(HoldingTest, ARefusalOnItsWayWhenDoubtedIsToldButNotRepeated) {
  begin(Mode::LeaseStrict, per_hour(1));
  Waiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());
  holding_->doubt();
  hear(store::LeaseGrant{.granted = 0, .afterwards = Decision::deny(1, 0, 1h, 1h)});
  EXPECT_EQ(waiter.answers, 1);
  EXPECT_FALSE(holding_->take(Cost{1}, now_)) << "asks again";
}

TEST_F(HoldingTest, DoubtEndsWithTheAnswerThatWasOnItsWay) {
  begin(Mode::LeaseStrict, per_hour(2));
  Waiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());
  holding_->doubt();
  hear(store::LeaseGrant{.granted = 1, .afterwards = Decision::allow(2, 1, 1h)});
  grant(1, Decision::deny(2, 0, 1h, 1h));
  EXPECT_TRUE(holding_->take(Cost{1}, now_)) << "this refusal is fresh";
}

TEST_F(HoldingTest, AsksAheadWhenItRunsLow) {
  begin(Mode::Lease, per_second(100'000).burst(100'000));
  const Decision afterwards = Decision::allow(100'000, 50'000, 50ms);
  const auto admit = [&] { holding_->note_admitted(Cost{10}, afterwards, now_ - 1ms, now_); };
  for (int i = 0; i < 400; ++i) {  // ten in a millisecond are decided by the store
    EXPECT_TRUE(i >= 30 || !holding_->wants_to_ask(now_)) << "a lease could be wasted";
    admit();
    now_ += 1ms;
  }
  ASSERT_TRUE(holding_->wants_to_ask(now_));
  const store::LeaseAsk first = holding_->ask(1, now_);
  EXPECT_EQ(first.lease.need, 0U) << "nobody waits";
  EXPECT_LE(first.lease.want, 4'000U / 64) << "one of 64 that were admitted may be wasted";
  hear(store::LeaseGrant{.granted = first.lease.want, .afterwards = afterwards});
  while (!holding_->wants_to_ask(now_) && holding_->in_hand(now_) > 0) ASSERT_TRUE(takes(1));
  EXPECT_GT(holding_->in_hand(now_), 0U) << "before it runs out";
}

TEST_F(HoldingTest, AKeyThatNobodyAsksForAsksForNothing) {
  begin(Mode::Lease);
  grant(5);
  now_ += 500ms;
  EXPECT_FALSE(holding_->wants_to_ask(now_));
  EXPECT_TRUE(holding_->is_idle(now_));
}

// Found by the simulation: given back to the next window, they would be admitted twice.
TEST_F(HoldingTest, ReturnsWhatAWindowCountsUntilTheStoreHasHeard) {
  for (const auto& [counts_for, returned] :
       {std::pair{Duration{2s}, 9U}, {Duration{1s}, 0U}, {Duration{20ms}, 0U}}) {
    begin(Mode::Lease, per(100, 10s).fixed_window());
    grant_ahead(10, Decision::allow(100, 9, 20ms), counts_for);
    EXPECT_EQ(holding_->returnable(now_), returned) << counts_for.count();
  }
  begin(Mode::Lease);
  grant(10);
  EXPECT_EQ(holding_->returnable(now_), 0U) << "a bucket refills meanwhile";
}

TEST_F(HoldingTest, EverybodyHearsOfAFailureOnce) {
  begin(Mode::LeaseStrict);
  std::array<Waiter, 3> waiters;
  for (Waiter& waiter : waiters) wait(waiter, 1);
  Answers answers;
  holding_->fail({ErrorCode::Unavailable, "gone"}, answers);
  holding_->fail({ErrorCode::Unavailable, "gone"}, answers);
  for (const Answer& answer : answers) answer.tell();
  for (const Waiter& waiter : waiters) EXPECT_EQ(waiter.answers, 1);
}

TEST_F(HoldingTest, TheStoreDecidesThoseWhoWaitForNothingElse) {
  begin(Mode::LeaseStrict);
  std::array<Waiter, 4> waiters;
  for (Waiter& waiter : waiters) wait_for_the_store(waiter, 2);
  Waiter other;
  wait_for_the_store(other, 3);
  const store::LeaseAsk asked = ask();
  EXPECT_EQ(asked.cost, 2U);
  EXPECT_EQ(asked.count, 4U) << "those of one cost";
  EXPECT_EQ(asked.lease.want, 3U)
      << "for the other; nothing was admitted yet, so nothing may be wasted";
  hear(store::LeaseGrant{
      .admitted = 3, .afterwards = Decision::deny(100, 1, 99ms, 1ms), .denied_cost = Cost{2}});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(waiters.at(i).allowed);
    EXPECT_FALSE(waiters.at(i).taken.is_leased);
  }
  EXPECT_EQ(waiters[3].answers, 1);
  EXPECT_FALSE(waiters[3].allowed);
  EXPECT_EQ(other.answers, 1) << "costs more than what was denied";
  EXPECT_FALSE(holding_->has_reports()) << "the store knows that they are spent";
}

TEST_F(HoldingTest, OneThatLeftDoesNotUseUpWhatTheStoreAdmitted) {
  begin(Mode::LeaseStrict);
  Waiter late;
  Waiter patient;
  ASSERT_FALSE(holding_->take(Cost{1}, now_));
  holding_->wait(late, Cost{1}, Holding::Use::Final, now_ + 1ms);
  wait_for_the_store(patient, 1);
  static_cast<void>(ask());
  now_ += 2ms;
  Answers answers;
  holding_->dismiss_late(now_, answers);
  for (const Answer& answer : answers) answer.tell();
  EXPECT_EQ(late.error, ErrorCode::Timeout);
  hear(store::LeaseGrant{
      .admitted = 1, .afterwards = Decision::deny(100, 0, 99ms, 1ms), .denied_cost = Cost{1}});
  EXPECT_TRUE(patient.allowed);
}

TEST_F(HoldingTest, WhatIsLeftOfAStrictLeaseGoesBackWithoutARequest) {
  begin(Mode::LeaseStrict);
  grant(10);
  ASSERT_LT(holding_->wakes_at(), now_ + 100ms) << "while the store accounts for it";
  now_ = holding_->wakes_at();
  holding_->end_leases(now_);
  ASSERT_TRUE(holding_->wants_to_ask(now_));
  const store::LeaseAsk asked = ask();
  EXPECT_EQ(asked.lease.want, 0U);
  EXPECT_EQ(asked.reports,
            (std::vector{store::LeaseReport{.epoch = 7, .spent = 1, .returned = 9}}));
  hear(store::LeaseGrant{.afterwards = Decision::allow(100, 99, 1ms)});
  EXPECT_EQ(holding_->wakes_at(), base::Deadline::max()) << "nothing is left to do";
}

TEST_F(HoldingTest, AWaitingRequestCanBePutBack) {
  begin(Mode::LeaseStrict);
  Waiter waiter;
  wait(waiter, 3);
  static_cast<void>(ask());
  hear(store::LeaseGrant{.granted = 3, .epoch = 7, .afterwards = Decision::allow(100, 9, 1ms)});
  ASSERT_TRUE(waiter.taken.is_leased);
  holding_->put_back(Cost{3}, waiter.taken, now_);
  EXPECT_EQ(holding_->in_hand(now_), 3U);
}

TEST_F(HoldingTest, WasteStopsFurtherLeases) {
  begin(Mode::Lease, per_second(100'000).burst(100'000));
  const Decision afterwards = Decision::allow(100'000, 50'000, 50ms);
  std::uint64_t admitted = 0;
  std::uint64_t leased = 0;
  for (int i = 0; i < 2'000; ++i) {  // each lease ends unspent
    holding_->note_admitted(Cost{20}, afterwards, now_ - 1ms, now_);
    admitted += 20;
    now_ += 1ms;
    if (!holding_->wants_to_ask(now_)) continue;
    const store::LeaseAsk asked = holding_->ask(1, now_);
    hear(store::LeaseGrant{.granted = asked.lease.want, .afterwards = afterwards});
    leased += asked.lease.want;
    now_ += 100ms;
  }
  EXPECT_GT(leased, 0U);
  EXPECT_LE(leased, admitted / 64);
}

TEST_F(HoldingTest, ALimitWithTooLittleToShareIsNotAskedInALoop) {
  begin(Mode::Lease, per_second(100'000).burst(100'000));
  const Decision afterwards = Decision::allow(100'000, 7, 50ms);
  for (int i = 0; i < 500 && !holding_->wants_to_ask(now_); ++i) {
    holding_->note_admitted(Cost{20}, afterwards, now_ - 1ms, now_);
    now_ += 1ms;
  }
  static_cast<void>(holding_->ask(64, now_));
  hear(store::LeaseGrant{.granted = 0, .afterwards = afterwards});
  EXPECT_FALSE(holding_->wants_to_ask(now_ + 24ms));
  EXPECT_TRUE(holding_->wants_to_ask(now_ + 25ms));
}

TEST_F(HoldingTest, WhoWaitsWhenALeaseBecomesPlainIsNotAdmittedForNothing) {
  begin(Mode::LeaseStrict);
  Waiter first;
  Waiter second;
  wait_for_the_store(first, 2);
  static_cast<void>(ask());
  wait_for_the_store(second, 2);
  holding_->adopt(kBucket, {.mode = Mode::Lease}, now_);
  hear(store::LeaseGrant{.admitted = 1, .afterwards = Decision::allow(100, 50, 50ms)});
  EXPECT_TRUE(first.allowed);
  const store::LeaseAsk asked = ask();
  EXPECT_EQ(asked.count, 0U) << "a plain lease decides no requests";
  EXPECT_EQ(asked.lease.need, 2U);
  hear(store::LeaseGrant{.granted = 0, .afterwards = Decision::allow(100, 50, 50ms)});
  EXPECT_EQ(second.answers, 0);
  static_cast<void>(ask());
  hear(store::LeaseGrant{.granted = 2, .afterwards = Decision::allow(100, 48, 50ms)});
  EXPECT_TRUE(second.allowed);
  EXPECT_TRUE(second.taken.is_leased);
}

TEST_F(HoldingTest, ReportsAreNotRepeatedForLongerThanTheyMatter) {
  begin(Mode::LeaseStrict);
  grant(10);
  now_ = holding_->wakes_at();
  int asks = 0;
  for (; asks < 1'000; ++asks) {
    holding_->end_leases(now_);
    if (holding_->wakes_at() == base::Deadline::max()) break;
    now_ = std::max(now_, holding_->wakes_at());
    if (!holding_->wants_to_ask(now_)) continue;
    static_cast<void>(holding_->ask(1, now_));
    hear(Error{ErrorCode::Unavailable, "the breaker is open"});
  }
  EXPECT_LE(asks, 50) << "for two lifetimes, with a pause in between";
}

TEST_F(HoldingTest, WaitingRequestsOfOtherCostsShareTheCall) {
  begin(Mode::LeaseStrict);
  std::array<Waiter, 3> waiters;
  wait_for_the_store(waiters[0], 1);
  wait_for_the_store(waiters[1], 2);
  wait_for_the_store(waiters[2], 1);
  const store::LeaseAsk asked = ask();
  EXPECT_EQ(asked.count, 1U);
  EXPECT_EQ(asked.lease.due, 3U);
  EXPECT_EQ(asked.lease.need, 0U);
  hear(store::LeaseGrant{
      .admitted = 1, .granted = 3, .epoch = 7, .afterwards = Decision::allow(100, 48, 50ms)});
  for (const Waiter& waiter : waiters) EXPECT_TRUE(waiter.allowed);
}

TEST_F(HoldingTest, ALateLeaseDoesNotFailWhoWaitsForTheStore) {
  begin(Mode::LeaseStrict);
  Waiter first;
  Waiter next;
  wait_for_the_store(first, 1);
  static_cast<void>(ask());
  wait_for_the_store(next, 1);
  now_ += 100ms;
  hear(store::LeaseGrant{
      .admitted = 1, .granted = 5, .epoch = 7, .afterwards = Decision::allow(100, 48, 50ms)});
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(next.answers, 0);
  EXPECT_EQ(ask().count, 1U);
}

}  // namespace
}  // namespace penstock::lease
