#include "lease/key_lease.hpp"

#include <gtest/gtest.h>

#include <array>

namespace penstock::lease {
namespace {

using core::Mode;
using namespace std::chrono_literals;

// Counts its answers.
class RecordingWaiter final : public Waiter {
 public:
  void on_answer(const Result<Decision>& answer, const TakenUnits& from) override {
    ++answers;
    taken = from;
    allowed = answer && answer->allowed();
    error = answer ? std::nullopt : std::optional(answer.error().code);
  }

  int answers = 0;
  bool allowed = false;
  std::optional<ErrorCode> error;
  TakenUnits taken{};
};

constexpr Quota kBucket = per_second(1000).burst(100);
const core::LimitKey kName{.subject = "alice", .limit = "limit"};

class KeyLeaseTest : public testing::Test {
 protected:
  void begin(Mode mode, const Quota& quota = kBucket) {
    key_lease_.emplace(kName, quota, core::SharingTerms{.mode = mode}, now_);
  }

  void wait(RecordingWaiter& waiter, std::uint64_t cost) {
    ASSERT_FALSE(key_lease_->take(Cost{cost}, now_));
    key_lease_->wait(waiter, Cost{cost}, KeyLease::Use::Revocable);
  }
  void wait_for_the_store(RecordingWaiter& waiter, std::uint64_t cost) {
    ASSERT_FALSE(key_lease_->take(Cost{cost}, now_));
    key_lease_->wait(waiter, Cost{cost}, KeyLease::Use::Final);
  }
  store::LeaseRequest ask() {
    EXPECT_TRUE(key_lease_->needs_refill(now_));
    return key_lease_->ask(1, now_);
  }
  void on_grant(const Result<store::LeaseGrant>& grant) {
    WaiterAnswers answers;
    key_lease_->on_grant(grant, now_, answers);
    for (const WaiterAnswer& answer : answers) answer.notify();
  }
  // A request waits and `units` are granted; one is spent at once.
  void grant(std::uint32_t units, const Decision& afterwards = Decision::allow(100, 50, 50ms)) {
    if (!key_lease_->is_strict()) return grant_ahead(units, afterwards);
    RecordingWaiter waiter;
    wait(waiter, 1);
    static_cast<void>(ask());
    on_grant(store::LeaseGrant{.granted = units, .epoch = 7, .afterwards = afterwards});
    ASSERT_TRUE(waiter.allowed);
  }
  // Grants a lease that no request waits for.
  void grant_ahead(std::uint32_t units, const Decision& afterwards,
                   Duration counts_for = Duration::max()) {
    static_cast<void>(key_lease_->ask(1, now_));
    on_grant(
        store::LeaseGrant{.granted = units, .counts_for = counts_for, .afterwards = afterwards});
    ASSERT_TRUE(takes(1));
  }
  bool takes(std::uint64_t cost) {
    const auto said = key_lease_->take(Cost{cost}, now_);
    return said && said->allowed();
  }

  base::Deadline now_{std::chrono::seconds{100}};
  std::optional<KeyLease> key_lease_;
};

TEST_F(KeyLeaseTest, TheFirstRequestLeasesItsOwnCost) {
  begin(Mode::LeaseStrict);
  RecordingWaiter waiter;
  wait(waiter, 3);
  const store::LeaseRequest asked = ask();
  EXPECT_EQ(asked.lease.need, 3U);
  EXPECT_EQ(asked.lease.want, 3U);
  EXPECT_EQ(asked.count, 0U) << "another limit may deny it";
  EXPECT_EQ(asked.strict_lifetime, 100ms);
  EXPECT_FALSE(key_lease_->needs_refill(now_)) << "one call at a time";
}

TEST_F(KeyLeaseTest, ServesWaitersInOrder) {
  begin(Mode::LeaseStrict);
  std::array<RecordingWaiter, 3> waiters;
  wait(waiters[0], 3);
  static_cast<void>(ask());
  wait(waiters[1], 4);
  wait(waiters[2], 1);
  on_grant(store::LeaseGrant{.granted = 5, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(waiters[0].allowed);
  EXPECT_EQ(waiters[1].answers, 0) << "too few units, and the rest is unknown";
  EXPECT_EQ(waiters[2].answers, 0) << "came later";
  EXPECT_FALSE(key_lease_->take(Cost{1}, now_)) << "requests do not overtake waiters";
  EXPECT_EQ(ask().lease.need, 2U) << "two are in hand";
  on_grant(store::LeaseGrant{.granted = 3, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(waiters[1].allowed);
  EXPECT_TRUE(waiters[2].allowed);
}

TEST_F(KeyLeaseTest, ADenialAnswersEveryWaiterItAppliesTo) {
  begin(Mode::LeaseStrict);
  std::array<RecordingWaiter, 3> waiters;
  wait(waiters[0], 5);
  static_cast<void>(ask());
  wait(waiters[1], 6);
  wait(waiters[2], 2);
  // 5 are available in 3 ms, so 2 are available now
  on_grant(store::LeaseGrant{.granted = 0, .afterwards = Decision::deny(100, 2, 98ms, 3ms)});
  EXPECT_EQ(waiters[0].answers, 1);
  EXPECT_FALSE(waiters[0].allowed);
  EXPECT_EQ(waiters[1].answers, 1);
  EXPECT_FALSE(waiters[1].allowed);
}

TEST_F(KeyLeaseTest, EndsOneLifetimeAfterItWasRequested) {
  begin(Mode::Lease);
  static_cast<void>(key_lease_->ask(1, now_));
  now_ += 60ms;  // until the answer arrives
  on_grant(store::LeaseGrant{.granted = 10, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(takes(1));
  now_ += 39ms;
  EXPECT_TRUE(takes(1));
  now_ += 1ms;
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
}

TEST_F(KeyLeaseTest, AGrantThatArrivesTooLateIsNotSpent) {
  begin(Mode::LeaseStrict);
  RecordingWaiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());
  now_ += 100ms;
  on_grant(
      store::LeaseGrant{.granted = 10, .epoch = 7, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_EQ(waiter.error, ErrorCode::Timeout);
  wait(waiter, 1);
  const store::LeaseRequest again = ask();
  ASSERT_EQ(again.reports.size(), 1U);
  EXPECT_EQ(again.reports[0], (store::LeaseReport{.epoch = 7, .spent = 0, .returned = 10}));
}

TEST_F(KeyLeaseTest, WindowLeaseEndsWithItsWindow) {
  begin(Mode::Lease, per(100, 1s).fixed_window());
  grant_ahead(10, Decision::allow(100, 9, 20ms), 20ms);
  now_ += 19ms;
  EXPECT_TRUE(takes(1));
  now_ += 1ms;
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
}

TEST_F(KeyLeaseTest, StrictLeasesReportSpentAndReturnedUnitsOnce) {
  begin(Mode::LeaseStrict);
  grant(10);
  EXPECT_TRUE(takes(2));
  now_ += 100ms;
  RecordingWaiter waiter;
  wait(waiter, 1);
  const store::LeaseRequest asked = ask();
  EXPECT_EQ(asked.strict_lifetime, 100ms);
  ASSERT_EQ(asked.reports.size(), 1U);
  EXPECT_EQ(asked.reports[0], (store::LeaseReport{.epoch = 7, .spent = 3, .returned = 7}));
  on_grant(store::LeaseGrant{.granted = 1, .epoch = 8, .afterwards = Decision::allow(100, 9, 1ms)});
  wait(waiter, 1);
  ASSERT_EQ(ask().reports.size(), 1U) << "of the second lease alone";
}

// The epoch may belong to another holder by then, if the store's clock was set back.
TEST_F(KeyLeaseTest, ReportsOfLongExpiredLeasesAreNotSent) {
  begin(Mode::LeaseStrict);
  grant(10);
  now_ += 310ms;  // without any call in between
  RecordingWaiter waiter;
  wait(waiter, 1);
  EXPECT_TRUE(ask().reports.empty());
}

TEST_F(KeyLeaseTest, ReportsAreRepeatedOnlyWhenTheyWereNotDelivered) {
  for (const auto& [code, repeated] : {std::pair{ErrorCode::Unavailable, 1U},
                                       {ErrorCode::Overloaded, 1U},
                                       {ErrorCode::Timeout, 0U},
                                       {ErrorCode::ConnectionLost, 0U}}) {
    begin(Mode::LeaseStrict);
    grant(1);
    RecordingWaiter waiter;
    wait(waiter, 1);
    ASSERT_EQ(ask().reports.size(), 1U);
    on_grant(Error{code, "failed"});
    EXPECT_EQ(waiter.error, code);
    wait(waiter, 1);
    EXPECT_EQ(ask().reports.size(), repeated) << to_string(code);
  }
}

TEST_F(KeyLeaseTest, LeasesThatAreNotStrictReportNothing) {
  begin(Mode::Lease);
  grant(10);
  now_ += 200ms;
  EXPECT_FALSE(key_lease_->take(Cost{1}, now_)) << "the store decides";
  EXPECT_TRUE(key_lease_->ask(1, now_).reports.empty());
}

TEST_F(KeyLeaseTest, UnitsPutBackCanBeTakenAgain) {
  begin(Mode::Lease);
  grant(5);
  EXPECT_TRUE(takes(4));
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
  key_lease_->put_back(Cost{4}, key_lease_->last_taken(), now_);
  EXPECT_TRUE(takes(4));
}

TEST_F(KeyLeaseTest, UnitsOfOneLeaseAreNotPutIntoAnother) {
  begin(Mode::Lease);
  grant(5);
  EXPECT_TRUE(takes(3));
  const KeyLease::TakenUnits taken = key_lease_->last_taken();
  now_ += 100ms;  // that lease has ended
  grant(5);
  EXPECT_TRUE(takes(3));
  const std::uint32_t before = key_lease_->in_hand(now_);
  key_lease_->put_back(Cost{3}, taken, now_);
  EXPECT_EQ(key_lease_->in_hand(now_), before);
}

TEST_F(KeyLeaseTest, NoRequestWaitsMuchLongerThanItsDeadline) {
  begin(Mode::LeaseStrict);
  RecordingWaiter first;
  RecordingWaiter late;
  wait(first, 1);
  static_cast<void>(ask());
  static_cast<void>(key_lease_->take(Cost{9}, now_));
  key_lease_->wait(late, Cost{9}, KeyLease::Use::Final, now_ + 1ms);
  now_ += 2ms;
  on_grant(store::LeaseGrant{.granted = 1, .afterwards = Decision::allow(10, 9, Duration{1})});
  EXPECT_EQ(late.error, ErrorCode::Timeout);
}

TEST_F(KeyLeaseTest, UnitsThatWereReportedOrHaveExpiredCannotBePutBack) {
  begin(Mode::LeaseStrict);
  grant(5);
  EXPECT_TRUE(takes(4));
  const KeyLease::TakenUnits taken = key_lease_->last_taken();
  RecordingWaiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());  // reports them as spent
  key_lease_->put_back(Cost{4}, taken, now_);
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);

  begin(Mode::Lease);
  grant(5);
  EXPECT_TRUE(takes(4));
  now_ += 100ms;
  key_lease_->put_back(Cost{4}, key_lease_->last_taken(), now_);
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
}

TEST_F(KeyLeaseTest, DroppedLeasesAreNotSpentAndStrictOnesReturned) {
  begin(Mode::LeaseStrict);
  grant(10);
  key_lease_->drop(now_);
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
  RecordingWaiter waiter;
  wait(waiter, 1);
  EXPECT_EQ(ask().reports,
            (std::vector{store::LeaseReport{.epoch = 7, .spent = 1, .returned = 9}}));
}

TEST_F(KeyLeaseTest, ALeaseInFlightDuringADropIsRequestedAgain) {
  begin(Mode::LeaseStrict);
  RecordingWaiter waiter;
  wait(waiter, 2);
  static_cast<void>(ask());
  key_lease_->drop(now_);
  on_grant(store::LeaseGrant{.granted = 6, .epoch = 9, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_EQ(waiter.answers, 0);
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
  EXPECT_EQ(ask().reports,
            (std::vector{store::LeaseReport{.epoch = 9, .spent = 0, .returned = 6}}));
  on_grant(store::LeaseGrant{.granted = 2, .epoch = 9, .afterwards = Decision::allow(100, 9, 1ms)});
  EXPECT_TRUE(waiter.allowed);
  EXPECT_EQ(waiter.answers, 1);
}

TEST_F(KeyLeaseTest, ChangedTermsStartWithNoUnitsInHand) {
  begin(Mode::Lease);
  grant(10);
  constexpr Quota kOtherQuota = per_second(2000).burst(100);
  key_lease_->adopt(kOtherQuota, {.mode = Mode::Lease}, now_);
  EXPECT_EQ(key_lease_->in_hand(now_), 0U);
  EXPECT_EQ(key_lease_->ask(1, now_).quota, kOtherQuota);
  key_lease_->adopt(kOtherQuota, {.mode = Mode::Lease}, now_);
  EXPECT_TRUE(key_lease_->is_asking()) << "the same terms change nothing";
}

TEST_F(KeyLeaseTest, DeniesWithoutACallWhileTheStoreWouldDeny) {
  begin(Mode::LeaseStrict, per_hour(1));
  grant(1, Decision::deny(1, 0, 1h, 1h));
  const auto said = key_lease_->take(Cost{1}, now_ + 1ms);
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->allowed());
  EXPECT_FALSE(key_lease_->needs_refill(now_ + 1ms));
}

TEST_F(KeyLeaseTest, PacesItsCallsWhenTheKeyIsAlmostExhausted) {
  begin(Mode::LeaseStrict);
  grant(1, Decision::deny(100, 0, 100ms, 1ms));
  now_ += 3ms;  // three units have refilled
  const auto said = key_lease_->take(Cost{1}, now_);
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->allowed());
  EXPECT_LE(*said->retry_after(), 4ms);
  now_ += *said->retry_after();
  EXPECT_FALSE(key_lease_->take(Cost{1}, now_)) << "calls the store";
}

TEST_F(KeyLeaseTest, MarkingStaleCallsTheStoreAgainAtOnce) {
  begin(Mode::LeaseStrict, per_hour(1));
  grant(1, Decision::deny(1, 0, 1h, 1h));
  key_lease_->mark_stale();
  EXPECT_FALSE(key_lease_->take(Cost{1}, now_ + 1ms));
}

TEST_F(KeyLeaseTest, ADenialInFlightWhenMarkedStaleIsDeliveredButNotCached) {
  begin(Mode::LeaseStrict, per_hour(1));
  RecordingWaiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());
  key_lease_->mark_stale();
  on_grant(store::LeaseGrant{.granted = 0, .afterwards = Decision::deny(1, 0, 1h, 1h)});
  EXPECT_EQ(waiter.answers, 1);
  EXPECT_FALSE(key_lease_->take(Cost{1}, now_)) << "calls the store again";
}

TEST_F(KeyLeaseTest, StalenessEndsWithTheAnswerInFlight) {
  begin(Mode::LeaseStrict, per_hour(2));
  RecordingWaiter waiter;
  wait(waiter, 1);
  static_cast<void>(ask());
  key_lease_->mark_stale();
  on_grant(store::LeaseGrant{.granted = 1, .afterwards = Decision::allow(2, 1, 1h)});
  grant(1, Decision::deny(2, 0, 1h, 1h));
  EXPECT_TRUE(key_lease_->take(Cost{1}, now_)) << "this denial is current";
}

TEST_F(KeyLeaseTest, LeasesAheadWhenItRunsLow) {
  begin(Mode::Lease, per_second(100'000).burst(100'000));
  const Decision afterwards = Decision::allow(100'000, 50'000, 50ms);
  const auto admit = [&] { key_lease_->note_admitted(Cost{10}, afterwards, now_ - 1ms, now_); };
  for (int i = 0; i < 400; ++i) {  // the store decides ten per millisecond
    EXPECT_TRUE(i >= 30 || !key_lease_->needs_refill(now_)) << "a lease could be wasted";
    admit();
    now_ += 1ms;
  }
  ASSERT_TRUE(key_lease_->needs_refill(now_));
  const store::LeaseRequest first = key_lease_->ask(1, now_);
  EXPECT_EQ(first.lease.need, 0U) << "no request waits";
  EXPECT_LE(first.lease.want, 4'000U / 64) << "one of 64 that were admitted may be wasted";
  on_grant(store::LeaseGrant{.granted = first.lease.want, .afterwards = afterwards});
  while (!key_lease_->needs_refill(now_) && key_lease_->in_hand(now_) > 0) ASSERT_TRUE(takes(1));
  EXPECT_GT(key_lease_->in_hand(now_), 0U) << "before it runs out";
}

TEST_F(KeyLeaseTest, AnIdleKeyRequestsNoLease) {
  begin(Mode::Lease);
  grant(5);
  now_ += 500ms;
  EXPECT_FALSE(key_lease_->needs_refill(now_));
  EXPECT_TRUE(key_lease_->is_idle(now_));
}

// Found by the simulation: units returned to the next window would be admitted twice.
TEST_F(KeyLeaseTest, ReturnsWindowUnitsThatStillCountWhenTheReportArrives) {
  for (const auto& [counts_for, returned] :
       {std::pair{Duration{2s}, 9U}, {Duration{1s}, 0U}, {Duration{20ms}, 0U}}) {
    begin(Mode::Lease, per(100, 10s).fixed_window());
    grant_ahead(10, Decision::allow(100, 9, 20ms), counts_for);
    EXPECT_EQ(key_lease_->returnable(now_), returned) << counts_for.count();
  }
  begin(Mode::Lease);
  grant(10);
  EXPECT_EQ(key_lease_->returnable(now_), 0U) << "a bucket refills meanwhile";
}

TEST_F(KeyLeaseTest, EveryWaiterGetsAFailureOnce) {
  begin(Mode::LeaseStrict);
  std::array<RecordingWaiter, 3> waiters;
  for (RecordingWaiter& waiter : waiters) wait(waiter, 1);
  WaiterAnswers answers;
  key_lease_->fail({ErrorCode::Unavailable, "down"}, answers);
  key_lease_->fail({ErrorCode::Unavailable, "down"}, answers);
  for (const WaiterAnswer& answer : answers) answer.notify();
  for (const RecordingWaiter& waiter : waiters) EXPECT_EQ(waiter.answers, 1);
}

TEST_F(KeyLeaseTest, TheStoreDecidesRequestsThatWaitForNothingElse) {
  begin(Mode::LeaseStrict);
  std::array<RecordingWaiter, 4> waiters;
  for (RecordingWaiter& waiter : waiters) wait_for_the_store(waiter, 2);
  RecordingWaiter other;
  wait_for_the_store(other, 3);
  const store::LeaseRequest asked = ask();
  EXPECT_EQ(asked.cost, 2U);
  EXPECT_EQ(asked.count, 4U) << "those of one cost";
  EXPECT_EQ(asked.lease.want, 3U)
      << "for the other; nothing was admitted yet, so nothing may be wasted";
  on_grant(store::LeaseGrant{
      .admitted = 3, .afterwards = Decision::deny(100, 1, 99ms, 1ms), .denied_cost = Cost{2}});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(waiters.at(i).allowed);
    EXPECT_FALSE(waiters.at(i).taken.is_leased);
  }
  EXPECT_EQ(waiters[3].answers, 1);
  EXPECT_FALSE(waiters[3].allowed);
  EXPECT_EQ(other.answers, 1) << "costs more than what was denied";
  EXPECT_FALSE(key_lease_->has_reports()) << "the store knows that they are spent";
}

TEST_F(KeyLeaseTest, AnExpiredWaiterDoesNotConsumeAnAdmission) {
  begin(Mode::LeaseStrict);
  RecordingWaiter late;
  RecordingWaiter patient;
  ASSERT_FALSE(key_lease_->take(Cost{1}, now_));
  key_lease_->wait(late, Cost{1}, KeyLease::Use::Final, now_ + 1ms);
  wait_for_the_store(patient, 1);
  static_cast<void>(ask());
  now_ += 2ms;
  WaiterAnswers answers;
  key_lease_->expire_waiters(now_, answers);
  for (const WaiterAnswer& answer : answers) answer.notify();
  EXPECT_EQ(late.error, ErrorCode::Timeout);
  on_grant(store::LeaseGrant{
      .admitted = 1, .afterwards = Decision::deny(100, 0, 99ms, 1ms), .denied_cost = Cost{1}});
  EXPECT_TRUE(patient.allowed);
}

TEST_F(KeyLeaseTest, UnspentStrictUnitsAreReturnedWithoutARequest) {
  begin(Mode::LeaseStrict);
  grant(10);
  ASSERT_LT(key_lease_->next_wakeup(), now_ + 100ms) << "while the store accounts for it";
  now_ = key_lease_->next_wakeup();
  key_lease_->end_leases(now_);
  ASSERT_TRUE(key_lease_->needs_refill(now_));
  const store::LeaseRequest asked = ask();
  EXPECT_EQ(asked.lease.want, 0U);
  EXPECT_EQ(asked.reports,
            (std::vector{store::LeaseReport{.epoch = 7, .spent = 1, .returned = 9}}));
  on_grant(store::LeaseGrant{.afterwards = Decision::allow(100, 99, 1ms)});
  EXPECT_EQ(key_lease_->next_wakeup(), base::Deadline::max()) << "nothing is left to do";
}

TEST_F(KeyLeaseTest, AWaitingRequestCanBePutBack) {
  begin(Mode::LeaseStrict);
  RecordingWaiter waiter;
  wait(waiter, 3);
  static_cast<void>(ask());
  on_grant(store::LeaseGrant{.granted = 3, .epoch = 7, .afterwards = Decision::allow(100, 9, 1ms)});
  ASSERT_TRUE(waiter.taken.is_leased);
  key_lease_->put_back(Cost{3}, waiter.taken, now_);
  EXPECT_EQ(key_lease_->in_hand(now_), 3U);
}

TEST_F(KeyLeaseTest, WasteStopsFurtherLeases) {
  begin(Mode::Lease, per_second(100'000).burst(100'000));
  const Decision afterwards = Decision::allow(100'000, 50'000, 50ms);
  std::uint64_t admitted = 0;
  std::uint64_t leased = 0;
  for (int i = 0; i < 2'000; ++i) {  // each lease ends unspent
    key_lease_->note_admitted(Cost{20}, afterwards, now_ - 1ms, now_);
    admitted += 20;
    now_ += 1ms;
    if (!key_lease_->needs_refill(now_)) continue;
    const store::LeaseRequest asked = key_lease_->ask(1, now_);
    on_grant(store::LeaseGrant{.granted = asked.lease.want, .afterwards = afterwards});
    leased += asked.lease.want;
    now_ += 100ms;
  }
  EXPECT_GT(leased, 0U);
  EXPECT_LE(leased, admitted / 64);
}

TEST_F(KeyLeaseTest, ALimitWithTooLittleToShareIsNotCalledInALoop) {
  begin(Mode::Lease, per_second(100'000).burst(100'000));
  const Decision afterwards = Decision::allow(100'000, 7, 50ms);
  for (int i = 0; i < 500 && !key_lease_->needs_refill(now_); ++i) {
    key_lease_->note_admitted(Cost{20}, afterwards, now_ - 1ms, now_);
    now_ += 1ms;
  }
  static_cast<void>(key_lease_->ask(64, now_));
  on_grant(store::LeaseGrant{.granted = 0, .afterwards = afterwards});
  EXPECT_FALSE(key_lease_->needs_refill(now_ + 24ms));
  EXPECT_TRUE(key_lease_->needs_refill(now_ + 25ms));
}

TEST_F(KeyLeaseTest, AWaiterIsNotAdmittedForFreeWhenALeaseBecomesPlain) {
  begin(Mode::LeaseStrict);
  RecordingWaiter first;
  RecordingWaiter second;
  wait_for_the_store(first, 2);
  static_cast<void>(ask());
  wait_for_the_store(second, 2);
  key_lease_->adopt(kBucket, {.mode = Mode::Lease}, now_);
  on_grant(store::LeaseGrant{.admitted = 1, .afterwards = Decision::allow(100, 50, 50ms)});
  EXPECT_TRUE(first.allowed);
  const store::LeaseRequest asked = ask();
  EXPECT_EQ(asked.count, 0U) << "a plain lease decides no requests";
  EXPECT_EQ(asked.lease.need, 2U);
  on_grant(store::LeaseGrant{.granted = 0, .afterwards = Decision::allow(100, 50, 50ms)});
  EXPECT_EQ(second.answers, 0);
  static_cast<void>(ask());
  on_grant(store::LeaseGrant{.granted = 2, .afterwards = Decision::allow(100, 48, 50ms)});
  EXPECT_TRUE(second.allowed);
  EXPECT_TRUE(second.taken.is_leased);
}

TEST_F(KeyLeaseTest, ReportsAreNotRepeatedForLongerThanTheyMatter) {
  begin(Mode::LeaseStrict);
  grant(10);
  now_ = key_lease_->next_wakeup();
  int asks = 0;
  for (; asks < 1'000; ++asks) {
    key_lease_->end_leases(now_);
    if (key_lease_->next_wakeup() == base::Deadline::max()) break;
    now_ = std::max(now_, key_lease_->next_wakeup());
    if (!key_lease_->needs_refill(now_)) continue;
    static_cast<void>(key_lease_->ask(1, now_));
    on_grant(Error{ErrorCode::Unavailable, "the breaker is open"});
  }
  EXPECT_LE(asks, 50) << "for two lifetimes, with a pause in between";
}

TEST_F(KeyLeaseTest, WaitingRequestsOfOtherCostsShareTheCall) {
  begin(Mode::LeaseStrict);
  std::array<RecordingWaiter, 3> waiters;
  wait_for_the_store(waiters[0], 1);
  wait_for_the_store(waiters[1], 2);
  wait_for_the_store(waiters[2], 1);
  const store::LeaseRequest asked = ask();
  EXPECT_EQ(asked.count, 1U);
  EXPECT_EQ(asked.lease.due, 3U);
  EXPECT_EQ(asked.lease.need, 0U);
  on_grant(store::LeaseGrant{
      .admitted = 1, .granted = 3, .epoch = 7, .afterwards = Decision::allow(100, 48, 50ms)});
  for (const RecordingWaiter& waiter : waiters) EXPECT_TRUE(waiter.allowed);
}

TEST_F(KeyLeaseTest, ALateLeaseDoesNotFailRequestsThatWaitForTheStore) {
  begin(Mode::LeaseStrict);
  RecordingWaiter first;
  RecordingWaiter next;
  wait_for_the_store(first, 1);
  static_cast<void>(ask());
  wait_for_the_store(next, 1);
  now_ += 100ms;
  on_grant(store::LeaseGrant{
      .admitted = 1, .granted = 5, .epoch = 7, .afterwards = Decision::allow(100, 48, 50ms)});
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(next.answers, 0);
  EXPECT_EQ(ask().count, 1U);
}

}  // namespace
}  // namespace penstock::lease
