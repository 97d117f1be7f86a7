#include "service/reservations.hpp"

#include "service_harness/test_reservations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace penstock::service {
namespace {

using namespace std::chrono_literals;

TEST_F(ReservationsTest, ChargeTheEstimateAndRefundUnusedUnits) {
  EXPECT_EQ(reserve("a", 60), "reserved a");
  EXPECT_EQ(left(), 40U);
  EXPECT_EQ(reserve("b", 60), "denied ");
  EXPECT_EQ(commit("a", 20), "committed 20 of 60");
  EXPECT_EQ(left(), 80U);
  EXPECT_EQ(reserve("b", 60), "reserved b");  // a denial is not remembered
}

TEST_F(ReservationsTest, ChargeWhatWasUsedBeyondTheEstimate) {
  EXPECT_EQ(reserve("a", 10), "reserved a");
  EXPECT_EQ(commit("a", 30), "committed 30 of 10");
  EXPECT_EQ(left(), 70U);
  EXPECT_EQ(reserve("b", 60), "reserved b");
  EXPECT_EQ(commit("b", 85), "committed 85 of 60, not 15");
  EXPECT_EQ(left(), 0U);
}

TEST_F(ReservationsTest, AreSettledOnceHoweverOftenCommitIsCalled) {
  EXPECT_EQ(reserve("a", 60), "reserved a");
  EXPECT_EQ(reserve("a", 60), "repeated a");
  EXPECT_EQ(reserve("a", 61), "settled open");
  EXPECT_EQ(left(), 40U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(commit("a", 110), "committed 110 of 60, not 10");
  EXPECT_EQ(commit("a", 21), "conflict committed");
  EXPECT_EQ(cancel("a"), "conflict committed");
  EXPECT_EQ(reserve("a", 60), "settled committed");
  EXPECT_EQ(left(), 0U);
}

TEST_F(ReservationsTest, OfOtherLimitsAreNotTheSame) {
  EXPECT_EQ(reserve("a", 10), "reserved a");
  limits = {matched_limit(kBytes, 100)};
  EXPECT_EQ(reserve("a", 10), "settled open");
  limits = {matched_limit(kTokens, 100, 2)};
  EXPECT_EQ(reserve("a", 10), "settled open");
  limits = {matched_limit(kTokens, 100), matched_limit(kBytes, 100)};
  EXPECT_EQ(reserve("a", 10), "settled open");
  limits = {matched_limit(kTokens, 100)};
  EXPECT_EQ(reserve("a", 10), "repeated a");
  EXPECT_EQ(left(), 90U);
}

TEST_F(ReservationsTest, OfLocalLimitsAreRejected) {
  limits.front().check.terms.mode = core::Mode::Local;
  EXPECT_EQ(reserve("a", 10),
            "error rule \"tokens\" is decided by each node alone (mode: local) and cannot be "
            "reserved");
  EXPECT_EQ(left(), 100U);
  EXPECT_EQ(commit("a", 10), "unknown");
}

TEST_F(ReservationsTest, ChargeByTheTermsOfAStrictLease) {
  const core::SharingTerms strict{.mode = core::Mode::LeaseStrict, .lifetime = 7s};
  limits.front().check.terms = strict;
  EXPECT_EQ(reserve("a", 10), "reserved a");
  EXPECT_EQ(commit("a", 30), "committed 30 of 10");
  EXPECT_EQ(test.store.calls.back().checks.front().terms, strict);
  limits.front().check.terms.mode = core::Mode::Lease;
  EXPECT_EQ(reserve("b", 10), "reserved b");
  EXPECT_EQ(commit("b", 30), "committed 30 of 10");
  EXPECT_EQ(test.store.calls.back().checks.front().terms, core::SharingTerms{});
}

TEST_F(ReservationsTest, AreCancelled) {
  EXPECT_EQ(reserve("a", 60), "reserved a");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cancel("a"), "cancelled");
  EXPECT_EQ(commit("a", 1), "conflict cancelled");
  EXPECT_EQ(cancel("b"), "unknown");
  EXPECT_EQ(commit("b", 1), "unknown");
  EXPECT_EQ(left(), 100U);
}

TEST_F(ReservationsTest, ExpireAndRefundAll) {
  EXPECT_EQ(reserve("a", 60, 10s), "reserved a");
  EXPECT_EQ(reserve("b", 30, 20s), "reserved b");
  test.store.advance(9s);
  reservations.sweep();
  EXPECT_EQ(left(), 10U);
  test.store.advance(1s);
  reservations.sweep();
  reservations.sweep();
  EXPECT_EQ(left(), 70U);
  EXPECT_EQ(cancel("a"), "expired");
  EXPECT_EQ(reserve("a", 60), "settled expired");
  EXPECT_EQ(commit("a", 5), "committed 5 of 60");  // late, but it was used
  EXPECT_EQ(commit("a", 5), "committed 5 of 60");
  EXPECT_EQ(left(), 65U);
}

TEST_F(ReservationsTest, ExpireAFewAtATime) {
  for (int i = 0; i < 90; ++i) reserve(std::to_string(i), 1, 10s);
  EXPECT_EQ(left(), 10U);
  test.store.advance(10s);
  test.store.steps_are_late = true;
  reservations.sweep();
  EXPECT_EQ(test.store.waiting(), Reservations::kMaxExpiriesInFlight);
  reservations.sweep();
  EXPECT_EQ(test.store.waiting(), Reservations::kMaxExpiriesInFlight);
  test.store.answer_late();
  EXPECT_EQ(left(), 100U);
}

TEST_F(ReservationsTest, ThatExpireWhileTheStoreIsUnavailableAreRefundedLater) {
  EXPECT_EQ(reserve("a", 60, 10s), "reserved a");
  test.store.advance(10s);
  test.store.fails_for = [](const std::string&) { return true; };
  reservations.sweep();
  reservations.retry();
  EXPECT_EQ(left(), 40U);
  test.store.fails_for = {};
  reservations.retry();
  reservations.retry();
  EXPECT_EQ(left(), 100U);
}

TEST_F(ReservationsTest, HoldEveryLimitByItsOwnWeight) {
  limits = {matched_limit(kTokens, 100, 1), matched_limit(kBytes, 1000, 4),
            matched_limit(kBytes, 1000, 1)};
  EXPECT_EQ(reserve("a", 50), "reserved a");
  EXPECT_EQ(left(), 50U);
  EXPECT_EQ(left(kBytes, 1000), 750U);
  EXPECT_EQ(commit("a", 10), "committed 10 of 50");
  EXPECT_EQ(left(), 90U);
  EXPECT_EQ(left(kBytes, 1000), 950U);
  EXPECT_EQ(reserve("b", 0), "reserved b");
  EXPECT_EQ(commit("b", 193), "committed 193 of 0, not 103");
  EXPECT_EQ(left(), 0U);
  EXPECT_EQ(left(kBytes, 1000), 0U);
}

TEST_F(ReservationsTest, AreForgottenInTheEnd) {
  EXPECT_EQ(reserve("a", 10, 10min), "reserved a");
  EXPECT_EQ(commit("a", 10), "committed 10 of 10");
  test.store.advance(10min - 1us);
  EXPECT_EQ(commit("a", 10), "committed 10 of 10");
  test.store.advance(1us);
  EXPECT_EQ(commit("a", 10), "unknown");
}

// Another client takes a unit before each attempt but the last.
TEST_F(ReservationsTest, ReportWhatTheLastAttemptCharged) {
  EXPECT_EQ(reserve("a", 80), "reserved a");
  int others = 3;
  test.store.fails_for = [&](const std::string&) {
    if (others-- > 0) test.store.take({"s", "tokens"}, long_window(100), 1);
    return false;
  };
  EXPECT_EQ(commit("a", 110), "committed 110 of 80, not 13");
  EXPECT_EQ(left(), 0U);
}

// Expired units are not refunded: they would come back twice.
TEST_F(ReservationsTest, OfAnEndedWindowRefundNothing) {
  const Quota minute = Quota::make(per_minute(100).anchored_window()).value();
  limits.front().check.quota = minute;
  const auto remaining = [&] { return test.store.remaining({"s", "tokens"}, minute); };
  EXPECT_EQ(reserve("a", 60, 5min), "reserved a");
  EXPECT_EQ(reserve("b", 10, 5min), "reserved b");
  EXPECT_EQ(reserve("c", 10, 5min), "reserved c");
  test.store.advance(58s);
  EXPECT_EQ(commit("b", 0), "committed 0 of 10");
  EXPECT_EQ(remaining(), 30U);
  test.store.advance(1s);  // what is sent now may arrive in the next window
  EXPECT_EQ(commit("c", 0), "committed 0 of 10");
  EXPECT_EQ(remaining(), 30U);
  test.store.advance(1s);
  EXPECT_EQ(reserve("d", 100, 5min), "reserved d");
  EXPECT_EQ(commit("a", 0), "committed 0 of 60");
  EXPECT_EQ(remaining(), 0U);
}

TEST_F(ReservationsTest, WithoutTheStoreFollowTheFailurePolicy) {
  test.store.failure = Error{ErrorCode::Unavailable, "down"};
  const rules::Rule open{.domain = "api", .name = "open", .on_failure = rules::OnFailure::Open};
  const rules::Rule closed{.domain = "api", .name = "shut", .on_failure = rules::OnFailure::Closed};
  limits = {matched_limit(open, 100)};
  EXPECT_EQ(reserve("a", 10), "reserved ");  // without an id: nothing is held
  limits = {matched_limit(closed, 100)};
  EXPECT_EQ(reserve("a", 10), "denied ");
  EXPECT_EQ(commit("a", 10), "error down");
}

TEST_F(ReservationsTest, ThatCouldNotBeginChargeNothing) {
  const rules::Rule open{.domain = "api", .name = "tokens", .on_failure = rules::OnFailure::Open};
  const rules::Rule closed{
      .domain = "api", .name = "tokens", .on_failure = rules::OnFailure::Closed};
  limits = {matched_limit(open, 100)};
  test.store.steps_until_failure = 0;
  EXPECT_EQ(reserve("a", 60), "reserved ");
  limits = {matched_limit(closed, 100)};
  test.store.steps_until_failure = 0;
  EXPECT_EQ(reserve("a", 60), "denied ");
  EXPECT_EQ(left(), 100U);
}

// Whatever is done in whatever order: used is what is held and what was committed, and no more.
RC_GTEST_FIXTURE_PROP(ReservationsTest, AccountForEveryUnit, ()) {
  std::map<std::string, std::uint64_t> held;
  std::uint64_t committed = 0;
  const int steps = *rc::gen::inRange(0, 40);
  for (int i = 0; i < steps; ++i) {
    const std::string id = std::to_string(*rc::gen::inRange(0, 5));
    const auto units = *rc::gen::inRange<std::uint64_t>(0, 50);
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
      case 1:
        if (reserve(id, units, 10s).starts_with("reserved")) held[id] = units;
        break;
      case 2:
        if (commit(id, units).starts_with("committed") && held.contains(id)) {
          const std::uint64_t before = committed;
          committed = 0;
          for (const auto& [other, estimate] : held) committed += other == id ? 0 : estimate;
          committed = std::min<std::uint64_t>(before + units, 100 - committed);
          held.erase(id);
        }
        break;
      case 3:
        if (cancel(id) == "cancelled") held.erase(id);
        break;
      default:
        test.store.advance(10s);
        reservations.sweep();
        held.clear();
        // ids that expired would be charged late; start anew with none of them
        test.store.advance(5min);
        break;
    }
    std::uint64_t used = committed;
    for (const auto& [other, estimate] : held) used += estimate;
    RC_ASSERT(left() + used == 100U);
  }
}

struct Used {
  Instant at;
  std::uint64_t units;
};

// The most that any interval may have seen beyond what its limit allows; not above zero.
std::int64_t most_beyond(const std::vector<Used>& used, const Quota& quota) {
  std::int64_t most = 0;
  for (std::size_t from = 0; from < used.size(); ++from) {
    std::int64_t sum = 0;
    for (std::size_t to = from; to < used.size(); ++to) {
      sum += static_cast<std::int64_t>(used[to].units);
      const Duration time = used[to].at - used[from].at;
      const auto window = [&](Instant at) { return at.time_since_epoch() / quota.period(); };
      if (!quota.is_bucket() && window(used[from].at) != window(used[to].at)) break;
      const std::int64_t refilled =
          quota.is_bucket() ? time.count() * quota.limit() / quota.period().count() : 0;
      most = std::max(most, sum - refilled - quota.capacity());
    }
  }
  return most;
}

// Never more passes than if the actual cost had been taken when it was reserved. Of a bucket one
// reservation at a time: see docs/reference/reservations.md.
RC_GTEST_FIXTURE_PROP(ReservationsTest, NeverLetMorePassThanTheLimitSays, ()) {
  const Quota quota = Quota::make(*rc::gen::elementOf(std::vector<QuotaSpec>{
                                      per_minute(60).burst(30), per_minute(60).burst(30).gcra(),
                                      per_minute(60).fixed_window()}))
                          .value();
  limits.front().check.quota = quota;
  std::vector<Used> used;
  std::map<std::string, std::size_t> open;  // places in `used`
  Instant now{Days{20'000}};
  const int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    const Duration wait{*rc::gen::element<std::int64_t>(0, 0, 300'000, 7'000'000, 40'000'000)};
    now += wait;
    test.store.advance(wait);
    const auto units = *rc::gen::inRange<std::uint64_t>(1, 40);
    if (!open.empty() && *rc::gen::arbitrary<bool>()) {
      const std::string id = open.begin()->first;
      std::uint64_t& taken = used[open.begin()->second].units;
      open.erase(open.begin());
      if (*rc::gen::arbitrary<bool>()) {
        taken = std::min(taken, units);
        RC_ASSERT(commit(id, taken).starts_with("committed"));
      } else {
        taken = 0;
        RC_ASSERT(cancel(id) == "cancelled");
      }
    } else if ((open.empty() || !quota.is_bucket()) && *rc::gen::arbitrary<bool>()) {
      const std::string id = std::to_string(i);
      if (!reserve(id, units, 1h).starts_with("reserved")) continue;
      open[id] = used.size();
      used.push_back({now, units});
    } else if (test.decide({[&] {
                     rules::MatchedLimit other = limits.front();
                     other.check.cost = Cost{units};
                     return other;
                   }()})
                   .allowed) {
      used.push_back({now, units});
    }
  }
  RC_ASSERT(most_beyond(used, quota) == 0);
}

}  // namespace
}  // namespace penstock::service
