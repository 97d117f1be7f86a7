#include "lease/cached_decision.hpp"

#include "core/any_state.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

using core::kAlgorithms;

Quota any_quota() {
  const Algorithm algorithm = *rc::gen::elementOf(kAlgorithms);
  QuotaSpec spec = per(*rc::gen::inRange<std::int64_t>(1, 20),
                       std::chrono::milliseconds{*rc::gen::inRange<std::int64_t>(1, 400)})
                       .with(algorithm);
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    spec.capacity = *rc::gen::inRange<std::int64_t>(1, 20);
  }
  if (algorithm == Algorithm::SubWindows)
    spec.sub_window_count = *rc::gen::elementOf(std::array{2, 4, 5});
  return Quota::make(spec).value();
}

Cost any_cost() { return Cost{*rc::gen::inRange<std::uint64_t>(0, 24)}; }

// The store's clock and this node's, which runs at another rate.
struct Clocks {
  Instant store{std::chrono::seconds{1'700'000'000}};
  base::Deadline node{std::chrono::seconds{5}};
  std::int64_t ppm = 0;

  void pass(Duration time) {
    store += time;
    const base::Deadline::duration exact = time;
    node += exact + exact * ppm / 1'000'000;
  }
  void pass_up_to(std::int64_t micros) {
    pass(Duration{*rc::gen::inRange<std::int64_t>(0, micros)});
  }
};

// One key of the store, checked under one quota or several.
struct Key {
  Clocks clocks;
  core::AnyState state;
  Quota owner;
  Quota quota;
  std::vector<Quota> others;

  [[nodiscard]] static Key any() {
    const Quota quota = any_quota();
    Key key{.clocks = {}, .state = {}, .owner = quota, .quota = quota, .others = {}};
    key.clocks.ppm = *rc::gen::inRange(-400, 401);
    const int others = *rc::gen::inRange(0, 3);
    for (int i = 0; i < others; ++i) key.others.push_back(any_quota());
    return key;
  }
  Decision decide(const Quota& asked, Cost cost) {
    return core::decide_under(state, owner, asked, cost, clocks.store);
  }
  [[nodiscard]] Decision truth(Cost cost, Instant at) const {
    return core::evaluate_under(state, owner, quota, cost, at);
  }
  // A request under any of the quotas.
  void ask() {
    const std::size_t which = *rc::gen::inRange<std::size_t>(0, others.size() + 1);
    static_cast<void>(decide(which == others.size() ? quota : others[which], any_cost()));
  }
  void use() {
    const int before = *rc::gen::inRange(0, 30);
    for (int i = 0; i < before; ++i) {
      ask();
      clocks.pass_up_to(quota.period().count() / 4 + 2);
    }
  }
};

RC_GTEST_PROP(CachedDecision, NeverDeniesWhatTheStoreWouldAdmit, ()) {
  Key key = Key::any();
  key.use();
  // the store's clock may have been set back, behind its latest time
  key.clocks.store -= Duration{*rc::gen::inRange<std::int64_t>(0, 2) *
                               *rc::gen::inRange<std::int64_t>(0, 2 * key.quota.period().count())};
  const base::Deadline asked = key.clocks.node;
  key.clocks.pass_up_to(3'000);
  const Cost cost_before = any_cost();
  const Decision said = key.decide(key.quota, cost_before);
  key.clocks.pass_up_to(3'000);
  const CachedDecision denial(key.quota, cost_before, said, asked, key.clocks.node);
  for (int i = 0; i < 20; ++i) {
    const Cost cost = any_cost();
    const std::optional<Decision> repeated = denial.repeat(key.quota, cost, key.clocks.node);
    const Decision truth = key.truth(cost, key.clocks.store);
    if (repeated) {
      RC_ASSERT(!repeated->allowed());
      RC_ASSERT(!truth.allowed());
      RC_ASSERT((repeated->outcome() == Outcome::NeverFits) ==
                (truth.outcome() == Outcome::NeverFits));
    }
    static_cast<void>(key.decide(key.quota, any_cost()));  // other nodes charge meanwhile
    key.clocks.pass_up_to(key.quota.period().count() / 3 + 2);
  }
}

// Whether one answer determines everything about a key of this quota.
bool is_known_exactly(const Quota& quota, const Decision& said) {
  const bool is_window =
      quota.algorithm() == Algorithm::FixedWindow || quota.algorithm() == Algorithm::AnchoredWindow;
  return (quota.is_bucket() || is_window) && !said.drains_as_another_quota();
}

template <class Value>
bool is_between(const Value& value, const Value& least, const Value& most) {
  return least <= value && value <= most;
}

// The last answer that a node has about a key.
struct LastAnswer {
  CachedDecision denial;
  Decision said;
  Duration latency;
  base::Deadline heard;

  static LastAnswer ask(Key& key, Cost cost) {
    const base::Deadline asked = key.clocks.node;
    const Instant sent = key.clocks.store;
    key.clocks.pass_up_to(300);
    const Decision said = key.decide(key.quota, cost);
    key.clocks.pass_up_to(300);
    return {.denial = CachedDecision(key.quota, cost, said, asked, key.clocks.node),
            .said = said,
            .latency = key.clocks.store - sent,
            .heard = key.clocks.node};
  }
  // The earliest moment that its numbers may refer to.
  [[nodiscard]] Instant earliest(const Clocks& clocks) const {
    const Duration passed = std::chrono::ceil<Duration>(clocks.node - heard);
    return clocks.store - latency - passed / 500 - 4us;
  }
};

void compare_denial(const Key& key, const LastAnswer& last, Cost cost, const Decision& repeated) {
  const Instant earliest = last.earliest(key.clocks);
  const Decision truth = key.truth(cost, key.clocks.store);
  RC_ASSERT(repeated.outcome() == truth.outcome());
  const std::uint32_t least = is_known_exactly(key.quota, last.said)
                                  ? key.truth(cost, earliest).remaining()
                                  : std::min(last.said.remaining(), truth.remaining());
  RC_ASSERT(is_between(repeated.remaining(), least, truth.remaining()));
  if (truth.outcome() != Outcome::Denied) return;
  const Duration wait = *truth.retry_after();
  RC_ASSERT(is_between(*repeated.retry_after(), wait, wait + (key.clocks.store - earliest)));
}

void compare_shown(const Key& key, const LastAnswer& last, Cost cost, const Decision& shown) {
  RC_ASSERT(key.truth(cost, key.clocks.store).allowed());
  RC_ASSERT(shown.remaining() <= key.truth(Cost{0}, key.clocks.store).remaining());
  if (!is_known_exactly(key.quota, last.said)) return;
  RC_ASSERT(shown.remaining() >= key.truth(Cost{0}, last.earliest(key.clocks)).remaining());
}

// A node with exclusive use of a key: every answer, admissions included, replaces the cached one.
// The node's own answers have the numbers that the store would return, at a moment within the
// uncertainty of the node's clock.
RC_GTEST_PROP(CachedDecision, HasTheNumbersOfTheStoreWhenNoOtherNodeUsesTheKey, ()) {
  Key key = Key::any();
  key.use();
  LastAnswer last = LastAnswer::ask(key, any_cost());
  for (int i = 0; i < 60; ++i) {
    key.clocks.pass_up_to(key.quota.period().count() / 10 + 2);
    const Cost cost = any_cost();
    const std::optional<Decision> repeated = last.denial.repeat(key.quota, cost, key.clocks.node);
    const std::optional<Decision> shown = last.denial.snapshot(key.quota, cost, key.clocks.node);
    RC_ASSERT(!repeated || !shown);
    if (repeated) {
      compare_denial(key, last, cost, *repeated);
    } else if (shown) {
      compare_shown(key, last, cost, *shown);
    } else {
      last = LastAnswer::ask(key, cost);
    }
  }
}

RC_GTEST_PROP(CachedDecision, WaitingForRetryAfterIsNotTooEarly, ()) {
  const Quota quota = any_quota();
  Clocks clocks;
  core::AnyState state;
  while (core::decide(state, quota, Cost{1}, clocks.store).allowed()) clocks.pass(1us);
  const base::Deadline asked = clocks.node;
  const Decision said = core::decide(state, quota, Cost{1}, clocks.store);
  RC_PRE(!said.allowed());
  const CachedDecision denial(quota, Cost{1}, said, asked, clocks.node);
  clocks.pass_up_to(said.retry_after()->count());
  const std::optional<Decision> repeated = denial.repeat(quota, Cost{1}, clocks.node);
  RC_PRE(repeated.has_value());
  clocks.pass(*repeated->retry_after());
  RC_ASSERT(core::evaluate(state, quota, Cost{1}, clocks.store).allowed());
}

class CachedDecisionTest : public testing::Test {
 protected:
  static constexpr Quota kBucket = per_second(10).burst(10);
  const base::Deadline start_{std::chrono::seconds{100}};

  [[nodiscard]] CachedDecision denial(const Quota& quota, std::uint64_t cost,
                                      const Decision& said) const {
    return {quota, Cost{cost}, said, start_, start_ + 1ms};
  }
};

TEST_F(CachedDecisionTest, RepeatsADenialUntilTheWaitEnds) {
  const CachedDecision denied = denial(kBucket, 1, Decision::deny(10, 0, 1s, 50ms));
  EXPECT_TRUE(denied.repeat(kBucket, Cost{1}, start_ + 2ms));
  EXPECT_TRUE(denied.repeat(kBucket, Cost{1}, start_ + 49ms));
  EXPECT_FALSE(denied.repeat(kBucket, Cost{1}, start_ + 50ms));
}

TEST_F(CachedDecisionTest, KnowsHowLongOtherCostsOfABucketAreDenied) {
  // 5 are denied for 250 ms, so that 3 are available after 50 ms and 7 after 450 ms
  const CachedDecision denied = denial(kBucket, 5, Decision::deny(10, 2, 1s, 250ms));
  EXPECT_TRUE(denied.repeat(kBucket, Cost{3}, start_ + 40ms));
  EXPECT_FALSE(denied.repeat(kBucket, Cost{3}, start_ + 51ms));
  EXPECT_TRUE(denied.repeat(kBucket, Cost{7}, start_ + 440ms));
  EXPECT_FALSE(denied.repeat(kBucket, Cost{2}, start_ + 2ms));
}

// Found by the simulation: the clock error prolongs only the wait of costs that do not fit.
TEST_F(CachedDecisionTest, DoesNotDenyCostsThatFitWhenTheStoresClockIsBehind) {
  const CachedDecision denied =
      denial(kBucket, 5, Decision::deny(10, 2, 3s, 2250ms));  // behind by 2 s
  EXPECT_FALSE(denied.repeat(kBucket, Cost{2}, start_ + 2ms));
  EXPECT_TRUE(denied.repeat(kBucket, Cost{3}, start_ + 2ms));
}

TEST_F(CachedDecisionTest, CountsUnitsRefilledSinceTheAnswer) {
  // 2 are left; the third arrives after 50 ms, the fourth after 150 ms
  const CachedDecision denied = denial(kBucket, 5, Decision::deny(10, 2, 750ms, 250ms));
  EXPECT_EQ(denied.repeat(kBucket, Cost{5}, start_ + 41ms)->remaining(), 2U);
  EXPECT_EQ(denied.repeat(kBucket, Cost{5}, start_ + 52ms)->remaining(), 3U);
  EXPECT_EQ(denied.repeat(kBucket, Cost{9}, start_ + 201ms)->remaining(), 4U);
  EXPECT_FALSE(denied.snapshot(kBucket, Cost{3}, start_ + 41ms));
  EXPECT_EQ(denied.snapshot(kBucket, Cost{3}, start_ + 52ms)->remaining(), 3U);
}

TEST_F(CachedDecisionTest, AnAdmissionDeterminesLaterDenialsOfABucket) {
  // 3 are left of 10: 7 are available after 400 ms
  const CachedDecision admitted = denial(kBucket, 1, Decision::allow(10, 3, 700ms));
  const auto said = admitted.repeat(kBucket, Cost{7}, start_ + 1ms);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->remaining(), 3U);
  EXPECT_EQ(said->retry_after(), 400ms);
  EXPECT_FALSE(admitted.repeat(kBucket, Cost{3}, start_ + 1ms));
}

TEST_F(CachedDecisionTest, OtherCostsAreUnknownWhenUsageDrainsAsAnotherQuota) {
  Decision said = Decision::deny(10, 0, 1s, 250ms);
  said.set_drains_as_another_quota();
  const CachedDecision denied = denial(kBucket, 1, said);
  EXPECT_TRUE(denied.repeat(kBucket, Cost{1}, start_ + 2ms));
  EXPECT_FALSE(denied.repeat(kBucket, Cost{2}, start_ + 2ms));
  // a denial that leaves room for smaller costs: their admission can make the key drain faster
  said = Decision::deny(10, 2, 1s, 250ms);
  said.set_drains_as_another_quota();
  EXPECT_FALSE(denial(kBucket, 3, said).repeat(kBucket, Cost{3}, start_ + 2ms));
}

TEST_F(CachedDecisionTest, OnlyTheSameCostOfASlidingLogHasAKnownWait) {
  constexpr Quota kLog = per_second(10).sliding_log();
  const CachedDecision denied = denial(kLog, 3, Decision::deny(10, 2, 1s, 250ms));
  EXPECT_EQ(denied.repeat(kLog, Cost{3}, start_ + 1ms)->retry_after(), 250ms);
  EXPECT_FALSE(denied.repeat(kLog, Cost{4}, start_ + 2ms));
}

TEST_F(CachedDecisionTest, AnotherQuotaIsUnknown) {
  const CachedDecision denied = denial(kBucket, 1, Decision::deny(10, 0, 1s, 50ms));
  EXPECT_FALSE(denied.repeat(per_second(20).burst(10), Cost{1}, start_ + 2ms));
}

TEST_F(CachedDecisionTest, ExpiresAfterOneSecond) {
  constexpr Quota kSlow = per_hour(1);
  const CachedDecision denied = denial(kSlow, 1, Decision::deny(1, 0, 1h, 1h));
  EXPECT_TRUE(denied.repeat(kSlow, Cost{1}, start_ + 999ms));
  EXPECT_FALSE(denied.repeat(kSlow, Cost{1}, start_ + 1001ms));
}

TEST_F(CachedDecisionTest, ABlockDeniesEveryCost) {
  const CachedDecision denied = denial(kBucket, 1, Decision::block(10, 500ms));
  for (const std::uint64_t cost : {1, 5, 100}) {
    const auto said = denied.repeat(kBucket, Cost{cost}, start_ + 2ms);
    ASSERT_TRUE(said) << cost;
    EXPECT_EQ(said->outcome(), Outcome::Blocked);
  }
}

}  // namespace
}  // namespace penstock::lease
