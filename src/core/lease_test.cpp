#include "core/lease.hpp"

#include "reference/test_key.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <vector>

namespace penstock::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart = TestKey::kStart;
constexpr Duration kLifetime = milliseconds{100};
constexpr std::array kLeasable{Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow,
                               Algorithm::AnchoredWindow, Algorithm::SubWindows};

template <class T>
T between(T least, T most) {
  return *rc::gen::inRange<T>(least, most + 1);
}

Quota any_quota(Algorithm algorithm) {
  // primes, so that no tick divides the rate
  const auto limit = *rc::gen::element<std::int64_t>(1, 3, 7, 10, 97, 1'000, 999'983);
  const auto period_ms = *rc::gen::element<std::int64_t>(6, 60, 600, 1'020, 60'000, 86'400'000);
  QuotaSpec spec = per(limit, milliseconds{period_ms}).with(algorithm);
  if (algorithm == Algorithm::SubWindows) spec = spec.sub_windows(between<std::int64_t>(2, 6));
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    spec = spec.burst(between<std::int64_t>(1, 40));
  }
  return Quota::make(spec).value();
}

Quota any_bucket() { return any_quota(*rc::gen::element(Algorithm::TokenBucket, Algorithm::Gcra)); }

// A strict lease as the store keeps it.
struct Account {
  Quota quota;
  AnyState state{};
  Escrow escrow{};

  void advance_to(Instant now) { advance(state, escrow, quota, kLifetime, now); }
  [[nodiscard]] std::uint32_t tokens(Instant now) const {
    return evaluate(state, quota, Cost{0}, now).remaining();
  }
};

struct Event {
  Duration later{};
  std::uint32_t need = 0;
  std::uint32_t want = 0;
  std::uint32_t spent = 0;
  std::uint32_t returned = 0;
  std::int64_t epochs_ago = 0;
};

std::vector<Event> any_history(const Quota& quota) {
  std::vector<Event> history(between<std::size_t>(1, 30));
  for (Event& event : history) {
    event.later = *rc::gen::element(Duration{0}, Duration{1}, Duration{between(0, 30'000)},
                                    Duration{between(0, 300'000)}, Duration{seconds{100}});
    event.want = between<std::uint32_t>(0, quota.capacity() + 2);
    event.need = between<std::uint32_t>(0, event.want);
    event.spent = between<std::uint32_t>(0, quota.capacity());
    event.returned = between<std::uint32_t>(0, quota.capacity());
    event.epochs_ago = between<std::int64_t>(-1, 3);
  }
  return history;
}

TEST(Lease, IsOfBucketsAndOfWindowsThatBeginAndEnd) {
  for (const Algorithm algorithm : kLeasable) EXPECT_TRUE(can_lease(algorithm));
  EXPECT_FALSE(can_lease(Algorithm::SlidingLog));
  EXPECT_FALSE(can_lease(Algorithm::SlidingCounter));
}

RC_GTEST_PROP(Lease, TakesWhatThereIsAndNotOneMore, ()) {
  const Quota quota = any_quota(*rc::gen::elementOf(kLeasable));
  AnyState state;
  Instant now = kStart;
  for (int i = 0; i < 20; ++i) {
    now += Duration{between<std::int64_t>(-2'000, 200'000)};
    const std::uint32_t before = evaluate(state, quota, Cost{0}, now).remaining();
    const auto want = between<std::uint32_t>(0, quota.capacity());
    const auto need = between<std::uint32_t>(0, want);
    AnyState decided = state;
    const std::uint32_t taken = take_up_to(state, quota, need, want, 0, now);
    RC_ASSERT(taken == (before < need ? 0 : std::min(want, before)));
    static_cast<void>(decide(decided, quota, Cost{taken}, now));
    RC_ASSERT(state == decided);
  }
}

RC_GTEST_PROP(Lease, SharersLeaveHalfToEachOther, (std::uint32_t sharers)) {
  const Quota quota = any_quota(*rc::gen::elementOf(kLeasable));
  AnyState state;
  const auto used = between<std::uint32_t>(0, quota.capacity());
  static_cast<void>(decide(state, quota, Cost{used}, kStart));
  const std::uint32_t available = quota.capacity() - used;
  const auto want = between<std::uint32_t>(0, quota.capacity());
  const auto need = between<std::uint32_t>(0, want);
  const std::uint64_t part = sharers > 0 ? available / (std::uint64_t{2} * sharers) : available;
  const std::uint64_t allowed = std::min<std::uint64_t>(want, std::max<std::uint64_t>(need, part));
  const std::uint32_t taken = take_up_to(state, quota, need, want, sharers, kStart);
  RC_ASSERT(taken == (need > available ? 0 : std::min<std::uint64_t>(allowed, available)));
}

TEST(Lease, OfAWindowCountsUntilTheWindowEnds) {
  constexpr Quota kWindow = per(10, seconds{10}).fixed_window();
  constexpr Quota kFromTheFirst = per(10, seconds{10}).anchored_window();
  constexpr Quota kParts = per(10, seconds{10}).sub_windows(5);
  constexpr Quota kBucket = per(10, seconds{10});
  const Instant now = kStart + seconds{3};
  AnyState state;
  EXPECT_EQ(counts_for(state, kWindow, now), seconds{7});
  EXPECT_EQ(counts_for(state, kFromTheFirst, now), seconds{10});
  EXPECT_EQ(counts_for(state, kParts, now), seconds{1});
  EXPECT_EQ(counts_for(state, kBucket, now), Duration::max());
  ASSERT_EQ(take_up_to(state, kFromTheFirst, 1, 4, 0, now), 4U);
  EXPECT_EQ(counts_for(state, kFromTheFirst, now + seconds{4}), seconds{6});
}

RC_GTEST_PROP(StrictLease, TokensAndLeasesTogetherNeverExceedTheBurst, ()) {
  Account account{.quota = any_bucket()};
  Instant now = kStart;
  for (const Event& event : any_history(account.quota)) {
    now += event.later;
    if (*rc::gen::inRange(0, 20) == 0) now -= seconds{between(0, 2)};
    account.advance_to(now);
    const auto holds = [&] {
      return account.tokens(now) + account.escrow.leased() <= account.quota.capacity();
    };
    RC_ASSERT(holds());
    settle_report(account.state, account.escrow, account.quota,
                  account.escrow.epoch - event.epochs_ago, event.spent, event.returned, now);
    RC_ASSERT(holds());
    static_cast<void>(
        lease_strictly(account.state, account.escrow, account.quota,
                       {.lease = {.need = event.need, .due = event.need, .want = event.want}}, now)
            .granted);
    RC_ASSERT(holds());
  }
}

// Whatever holders do, if each spends only what it was granted, and within the lifetime.
RC_GTEST_PROP(StrictLease, AdmitsNoMoreInAnyIntervalThanTheBucketAlone, ()) {
  struct Held {
    std::uint32_t units;
    Instant until;
    std::int64_t epoch;
  };
  Account account{.quota = any_bucket()};
  const Quota& quota = account.quota;
  std::vector<Held> held;
  std::vector<std::pair<Instant, std::uint64_t>> spent;  // when, and how many in all by then
  std::uint64_t total = 0;
  Instant now = kStart;
  const bool loses_reports = *rc::gen::arbitrary<bool>();
  for (const Event& event : any_history(quota)) {
    now += event.later;
    std::erase_if(held, [&](const Held& each) { return each.until <= now; });
    std::optional<std::pair<std::int64_t, std::uint32_t>> report;
    if (!held.empty() && event.spent > 0) {
      Held& each = held[event.returned % held.size()];
      const std::uint32_t units = std::min(each.units, event.spent);
      each.units -= units;
      total += units;
      report = {each.epoch, units};
    }
    const bool at_all = *rc::gen::inRange(0, 2) == 0;
    if (at_all) {
      account.advance_to(now);
      if (report && !loses_reports) {
        settle_report(account.state, account.escrow, quota, report->first, report->second, 0, now);
      }
      if (now >= expires_at(account.escrow, quota)) account.escrow = {};  // expired in the store
      account.advance_to(now);
      const StrictLeaseRequest ask{
          .cost = between<std::uint32_t>(0, 3),
          .count = between<std::uint32_t>(0, 5),
          .lease = {.need = event.need, .due = event.need, .want = event.want}};
      const StrictLeaseGrant grant = lease_strictly(account.state, account.escrow, quota, ask, now);
      total += std::uint64_t{grant.admitted} * ask.cost;
      held.push_back({grant.granted, now + kLifetime, account.escrow.epoch});
    }
    spent.emplace_back(now, total);
    for (std::size_t i = 0; i + 1 < spent.size(); ++i) {
      const auto units =
          static_cast<base::Wide>((now - spent[i + 1].first).count()) * quota.rate_units();
      const auto refilled = static_cast<std::uint64_t>(units / quota.token_units());
      RC_ASSERT(total - spent[i].second <= quota.capacity() + refilled);
    }
  }
}

RC_GTEST_PROP(StrictLease, OneStepAfterALongRestIsAsManySmallOnes, ()) {
  Account account{.quota = any_bucket()};
  account.advance_to(kStart);
  static_cast<void>(decide(account.state, account.quota,
                           Cost{between<std::uint32_t>(0, account.quota.capacity())}, kStart));
  static_cast<void>(
      lease_strictly(account.state, account.escrow, account.quota,
                     {.lease = {.need = 0, .due = 0, .want = between<std::uint32_t>(0, 40)}},
                     kStart)
          .granted);
  const Instant later = kStart + Duration{between<std::int64_t>(0, 90'000)};
  account.advance_to(later);
  static_cast<void>(
      lease_strictly(account.state, account.escrow, account.quota,
                     {.lease = {.need = 0, .due = 0, .want = between<std::uint32_t>(0, 40)}}, later)
          .granted);
  Account stepwise = account;
  const Instant end = later + Duration{between<std::int64_t>(0, 400'000)};
  for (Instant now = later; now < end; now += Duration{between<std::int64_t>(1, 60'000)}) {
    stepwise.advance_to(now);
  }
  stepwise.advance_to(end);
  account.advance_to(end);
  RC_ASSERT(account.state == stepwise.state);
  RC_ASSERT(account.escrow == stepwise.escrow);
}

RC_GTEST_PROP(StrictLease, AnEscrowThatExpiredSaysNothing, ()) {
  Account account{.quota = any_bucket()};
  Instant now = kStart + Duration{between<std::int64_t>(0, 90'000)};
  for (int i = 0; i < 3; ++i) {
    account.advance_to(now);
    static_cast<void>(
        lease_strictly(account.state, account.escrow, account.quota,
                       {.lease = {.need = 0, .due = 0, .want = between<std::uint32_t>(0, 40)}}, now)
            .granted);
    now += Duration{between<std::int64_t>(0, 120'000)};
  }
  const Instant end = expires_at(account.escrow, account.quota);
  now = std::max(now, end);
  Account without = account;
  without.escrow = {};
  without.advance_to(now);
  account.advance_to(now);
  RC_ASSERT(account.tokens(now) == without.tokens(now));
  RC_ASSERT(account.escrow == without.escrow);
}

TEST(StrictLease, WhatIsLeasedIsNotRefilledMeanwhile) {
  constexpr Quota kTen = per_second(1'000).burst(10);
  Account account{.quota = kTen};
  account.advance_to(kStart);
  ASSERT_EQ(lease_strictly(account.state, account.escrow, kTen,
                           {.lease = {.need = 1, .due = 1, .want = 6}}, kStart)
                .granted,
            6U);
  account.advance_to(kStart + milliseconds{199});
  EXPECT_EQ(account.tokens(kStart + milliseconds{199}), 4U) << "it may still be spent";
  account.advance_to(kStart + milliseconds{203});
  EXPECT_EQ(account.tokens(kStart + milliseconds{203}), 7U) << "over since 200 ms, refilled since";
}

TEST(StrictLease, ReturnedUnitsComeBackAtOnceAndSpentOnesByRefill) {
  constexpr Quota kTen = per_second(10).burst(10).gcra();
  Account account{.quota = kTen};
  account.advance_to(kStart);
  ASSERT_EQ(lease_strictly(account.state, account.escrow, kTen,
                           {.lease = {.need = 1, .due = 1, .want = 10}}, kStart)
                .granted,
            10U);
  settle_report(account.state, account.escrow, kTen, account.escrow.epoch, 4, 3, kStart);
  EXPECT_EQ(account.tokens(kStart), 3U);
  EXPECT_EQ(account.escrow.leased(), 3U);
}

TEST(StrictLease, NoReportReturnsMoreThanWasLeased) {
  constexpr Quota kTen = per_second(10).burst(10);
  Account account{.quota = kTen};
  account.advance_to(kStart);
  ASSERT_TRUE(decide(account.state, kTen, Cost{5}, kStart).allowed());
  ASSERT_EQ(lease_strictly(account.state, account.escrow, kTen,
                           {.lease = {.need = 1, .due = 1, .want = 2}}, kStart)
                .granted,
            2U);
  settle_report(account.state, account.escrow, kTen, account.escrow.epoch, 1, 9, kStart);
  EXPECT_EQ(account.tokens(kStart), 4U);
}

TEST(StrictLease, AReportOfAnEpochThatIsOverChangesNothing) {
  constexpr Quota kTen = per_second(10).burst(10);
  Account account{.quota = kTen};
  account.advance_to(kStart);
  ASSERT_EQ(lease_strictly(account.state, account.escrow, kTen,
                           {.lease = {.need = 1, .due = 1, .want = 5}}, kStart)
                .granted,
            5U);
  for (const std::int64_t ago : {-1, 2, 3}) {
    const Account before = account;
    settle_report(account.state, account.escrow, kTen, account.escrow.epoch - ago, 2, 2, kStart);
    EXPECT_EQ(account.escrow, before.escrow);
    EXPECT_EQ(account.state, before.state);
  }
}

TEST(StrictLease, AnAbsentBucketHasWhatIsNotLeased) {
  constexpr Quota kTen = per_second(10).burst(10);
  Account account{.quota = kTen};
  account.advance_to(kStart);
  ASSERT_EQ(lease_strictly(account.state, account.escrow, kTen,
                           {.lease = {.need = 1, .due = 1, .want = 6}}, kStart)
                .granted,
            6U);
  account.state = {};  // lost
  account.advance_to(kStart);
  EXPECT_EQ(account.tokens(kStart), 4U);
}

TEST(StrictLease, RequestsThatAreDecidedAreUsedUpAtOnce) {
  constexpr Quota kTen = per_second(10).burst(10);
  Account account{.quota = kTen};
  account.advance_to(kStart);
  const StrictLeaseGrant first =
      lease_strictly(account.state, account.escrow, kTen,
                     {.cost = 3, .count = 2, .lease = {.want = 10, .sharers = 1}}, kStart);
  EXPECT_EQ(first, (StrictLeaseGrant{.admitted = 2, .granted = 2})) << "half of what is left";
  EXPECT_EQ(account.escrow.leased(), 2U);
  EXPECT_EQ(account.tokens(kStart), 2U);
  const StrictLeaseGrant next = lease_strictly(
      account.state, account.escrow, kTen, {.cost = 1, .count = 5, .lease = {.want = 10}}, kStart);
  EXPECT_EQ(next, (StrictLeaseGrant{.admitted = 2, .granted = 0}))
      << "nothing is leased to a denied one";
  // a request that was decided does not keep the bucket from refilling
  account.advance_to(kStart + milliseconds{100});
  EXPECT_EQ(account.tokens(kStart + milliseconds{100}), 1U);
}

TEST(StrictLease, AfterAResetReportsOfEarlierLeasesReturnNothing) {
  constexpr Quota kTen = per_second(1).burst(10);
  Account account{.quota = kTen};
  account.advance_to(kStart);
  ASSERT_EQ(
      lease_strictly(account.state, account.escrow, kTen, {.lease = {.want = 6}}, kStart).granted,
      6U);
  const std::int64_t before = account.escrow.epoch;
  for (int resets = 0; resets < 3; ++resets) {
    account.state = {};
    account.escrow = after_reset(account.escrow, kStart);
    account.advance_to(kStart);
    EXPECT_EQ(account.tokens(kStart), 10U);
    ASSERT_EQ(
        lease_strictly(account.state, account.escrow, kTen, {.lease = {.want = 4}}, kStart).granted,
        4U);
    for (const std::int64_t epoch : {before - 1, before}) {
      settle_report(account.state, account.escrow, kTen, epoch, 1, 3, kStart);
    }
    EXPECT_EQ(account.escrow.leased(), 4U) << "of another holder";
    EXPECT_EQ(account.tokens(kStart), 6U);
  }
  EXPECT_GT(expires_at(after_reset(account.escrow, kStart), kTen), kStart);
}

TEST(StrictLease, AShorterLifetimeWaitsUntilNothingIsLeased) {
  constexpr Quota kTen = per_second(1'000).burst(10);
  AnyState state;
  Escrow escrow;
  advance(state, escrow, kTen, seconds{1}, kStart);
  ASSERT_EQ(lease_strictly(state, escrow, kTen, {.lease = {.need = 1, .due = 1, .want = 6}}, kStart)
                .granted,
            6U);
  advance(state, escrow, kTen, milliseconds{10}, kStart + milliseconds{900});
  EXPECT_EQ(escrow.leased(), 6U);
  EXPECT_EQ(escrow.lifetime, Duration{seconds{1}});
  advance(state, escrow, kTen, milliseconds{10}, kStart + seconds{2});
  EXPECT_EQ(escrow.leased(), 0U);
  EXPECT_EQ(escrow.lifetime, Duration{milliseconds{10}});
}

TEST(StrictLease, ALongerLifetimeTakesAllLeasesAlong) {
  constexpr Quota kTen = per_second(1'000).burst(10);
  AnyState state;
  Escrow escrow;
  advance(state, escrow, kTen, milliseconds{10}, kStart);
  ASSERT_EQ(lease_strictly(state, escrow, kTen, {.lease = {.need = 1, .due = 1, .want = 6}}, kStart)
                .granted,
            6U);
  advance(state, escrow, kTen, seconds{1}, kStart + milliseconds{15});
  EXPECT_EQ(escrow.current, 6U);
  EXPECT_EQ(escrow.epoch, kStart.time_since_epoch() / Duration{seconds{1}});
}

TEST(StrictLease, AClockThatStepsBackKeepsLeasesForAWholeLifetime) {
  constexpr Quota kTen = per_second(1'000).burst(10).gcra();
  for (const Duration back : {Duration{milliseconds{150}}, Duration{Days{1}}}) {
    Account account{.quota = kTen};
    account.advance_to(kStart);
    ASSERT_EQ(lease_strictly(account.state, account.escrow, kTen,
                             {.lease = {.need = 1, .due = 1, .want = 6}}, kStart)
                  .granted,
              6U);
    account.advance_to(kStart + milliseconds{100});
    account.advance_to(kStart + milliseconds{100} - back);
    EXPECT_EQ(account.escrow.leased(), 6U);
    account.advance_to(kStart + milliseconds{199} - back);
    EXPECT_EQ(account.escrow.leased(), 6U) << "a lifetime has not passed since";
    account.advance_to(kStart + milliseconds{400});
    EXPECT_EQ(account.escrow.leased(), 0U);
  }
}

}  // namespace
}  // namespace penstock::core
