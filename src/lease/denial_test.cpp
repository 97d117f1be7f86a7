#include "lease/denial.hpp"

#include "core/any_state.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

constexpr std::array kAlgorithms{
    Algorithm::TokenBucket,    Algorithm::Gcra,       Algorithm::FixedWindow,
    Algorithm::AnchoredWindow, Algorithm::SlidingLog, Algorithm::SlidingCounter,
    Algorithm::SubWindows,
};

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

// The store's clock and this node's, which does not run as fast.
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

RC_GTEST_PROP(Denial, NeverRefusesWhatTheStoreWouldAdmit, ()) {
  const Quota quota = any_quota();
  Clocks clocks;
  clocks.ppm = *rc::gen::inRange(-400, 401);
  core::AnyState state;
  const int before = *rc::gen::inRange(0, 30);
  for (int i = 0; i < before; ++i) {
    static_cast<void>(core::decide(state, quota, any_cost(), clocks.store));
    clocks.pass_up_to(quota.period().count() / 4 + 2);
  }
  // the store's clock may have been set back, and be behind what it has seen
  clocks.store -= Duration{*rc::gen::inRange<std::int64_t>(0, 2) *
                           *rc::gen::inRange<std::int64_t>(0, 2 * quota.period().count())};
  const base::Deadline asked = clocks.node;
  clocks.pass_up_to(3'000);
  const Cost refused = any_cost();
  const Decision said = core::decide(state, quota, refused, clocks.store);
  RC_PRE(!said.allowed());
  clocks.pass_up_to(3'000);
  const Denial denial(quota, refused, said, asked, clocks.node);
  for (int i = 0; i < 20; ++i) {
    const Cost cost = any_cost();
    const std::optional<Decision> repeated = denial.repeat(quota, cost, clocks.node);
    const Decision truth = core::evaluate(state, quota, cost, clocks.store);
    if (repeated) {
      RC_ASSERT(!repeated->allowed());
      RC_ASSERT(!truth.allowed());
      RC_ASSERT((repeated->outcome() == Outcome::NeverFits) ==
                (truth.outcome() == Outcome::NeverFits));
    }
    // others take meanwhile
    static_cast<void>(core::decide(state, quota, any_cost(), clocks.store));
    clocks.pass_up_to(quota.period().count() / 3 + 2);
  }
}

RC_GTEST_PROP(Denial, WhoWaitsAsToldIsNotTooEarly, ()) {
  const Quota quota = any_quota();
  Clocks clocks;
  core::AnyState state;
  while (core::decide(state, quota, Cost{1}, clocks.store).allowed()) clocks.pass(1us);
  const base::Deadline asked = clocks.node;
  const Decision said = core::decide(state, quota, Cost{1}, clocks.store);
  RC_PRE(!said.allowed());
  const Denial denial(quota, Cost{1}, said, asked, clocks.node);
  clocks.pass_up_to(said.retry_after()->count());
  const std::optional<Decision> repeated = denial.repeat(quota, Cost{1}, clocks.node);
  RC_PRE(repeated.has_value());
  clocks.pass(*repeated->retry_after());
  RC_ASSERT(core::evaluate(state, quota, Cost{1}, clocks.store).allowed());
}

class DenialTest : public testing::Test {
 protected:
  static constexpr Quota kBucket = per_second(10).burst(10);
  const base::Deadline start_{std::chrono::seconds{100}};

  [[nodiscard]] Denial denial(const Quota& quota, std::uint64_t cost, const Decision& said) const {
    return {quota, Cost{cost}, said, start_, start_ + 1ms};
  }
};

TEST_F(DenialTest, RepeatsAtOnceAndNotAfterTheWait) {
  const Denial refused = denial(kBucket, 1, Decision::deny(10, 0, 1s, 50ms));
  EXPECT_TRUE(refused.repeat(kBucket, Cost{1}, start_ + 2ms));
  EXPECT_TRUE(refused.repeat(kBucket, Cost{1}, start_ + 49ms));
  EXPECT_FALSE(refused.repeat(kBucket, Cost{1}, start_ + 50ms));
}

TEST_F(DenialTest, KnowsHowLongOtherCostsOfABucketAreRefused) {
  // 5 are refused for 250 ms, so that 3 are there after 50 ms and 7 after 450 ms
  const Denial refused = denial(kBucket, 5, Decision::deny(10, 2, 1s, 250ms));
  EXPECT_TRUE(refused.repeat(kBucket, Cost{3}, start_ + 40ms));
  EXPECT_FALSE(refused.repeat(kBucket, Cost{3}, start_ + 51ms));
  EXPECT_TRUE(refused.repeat(kBucket, Cost{7}, start_ + 440ms));
  EXPECT_FALSE(refused.repeat(kBucket, Cost{2}, start_ + 2ms));
}

// Found by the simulation: the wait is longer by that, for whoever has to wait, and for nobody
// else.
TEST_F(DenialTest, SaysNothingAboutWhatFitsWhenTheStoresClockIsBehind) {
  const Denial refused = denial(kBucket, 5, Decision::deny(10, 2, 3s, 2250ms));  // behind by 2 s
  EXPECT_FALSE(refused.repeat(kBucket, Cost{2}, start_ + 2ms));
  EXPECT_TRUE(refused.repeat(kBucket, Cost{3}, start_ + 2ms));
}

TEST_F(DenialTest, SaysNothingAboutAnotherQuota) {
  const Denial refused = denial(kBucket, 1, Decision::deny(10, 0, 1s, 50ms));
  EXPECT_FALSE(refused.repeat(per_second(20).burst(10), Cost{1}, start_ + 2ms));
}

TEST_F(DenialTest, HoldsForASecondAtTheMost) {
  constexpr Quota kSlow = per_hour(1);
  const Denial refused = denial(kSlow, 1, Decision::deny(1, 0, 1h, 1h));
  EXPECT_TRUE(refused.repeat(kSlow, Cost{1}, start_ + 999ms));
  EXPECT_FALSE(refused.repeat(kSlow, Cost{1}, start_ + 1001ms));
}

TEST_F(DenialTest, BlockedIsBlockedForEveryCost) {
  const Denial refused = denial(kBucket, 1, Decision::block(10, 500ms));
  for (const std::uint64_t cost : {1, 5, 100}) {
    const auto said = refused.repeat(kBucket, Cost{cost}, start_ + 2ms);
    ASSERT_TRUE(said) << cost;
    EXPECT_EQ(said->outcome(), Outcome::Blocked);
  }
}

}  // namespace
}  // namespace penstock::lease
