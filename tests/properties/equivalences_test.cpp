// Pairs of histories with equal answers.
#include "properties/generators.hpp"
#include "properties/key_under_test.hpp"
#include "properties/property.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::properties {
namespace {

class Equivalences : public ::testing::TestWithParam<Algorithm> {};

void expect_same_answers(KeyUnderTest one, KeyUnderTest other, Instant from, const Steps& steps) {
  oracle::Walk walk(one.quota(), from, kNoEnd);
  oracle::Walk same_walk = walk;
  for (const oracle::Step& step : steps) {
    const oracle::Answer answer = one.follow(walk, step);
    const oracle::Answer other_answer = other.follow(same_walk, step);
    if (answer == other_answer) continue;
    RC_FAIL("quota " + to_string(one.quota()) + "\none\n" + one.record() + "other\n" +
            other.record());
  }
}

TEST_P(Equivalences, ARefundUndoesAChargeOfTheSameInstant) {
  check_property(300, [&] {
    const Quota quota = *any_quota(GetParam());
    KeyUnderTest subject(quota);
    oracle::Walk walk(quota, any_start());
    std::uint64_t draw = 0;
    for (const oracle::Step& step : *any_steps(40)) {
      static_cast<void>(subject.follow(walk, step));
      draw = step.draw;
    }
    const oracle::Answer now = subject.check(Cost{0}, walk.now());
    RC_PRE(now.remaining > 0);
    const Cost cost{draw % now.remaining + 1};
    KeyUnderTest undone = subject;
    RC_ASSERT(undone.check(cost, walk.now()).allowed);
    undone.refund(cost, walk.now());
    expect_same_answers(subject, undone, walk.now(), *forward_steps(40));
  });
}

TEST_P(Equivalences, DroppingAnExpiredStateChangesNoAnswer) {
  check_property(300, [&] {
    const Quota quota = *any_quota(GetParam());
    KeyUnderTest subject(quota);
    oracle::Walk walk(quota, any_start());
    for (const oracle::Step& step : *any_steps(40)) {
      static_cast<void>(subject.follow(walk, step));
      const Duration reset_after = subject.peek(Cost{0}, walk.now()).reset_after;
      if (reset_after > Duration{0}) RC_ASSERT(subject.expires_at() >= walk.now() + reset_after);
    }
    KeyUnderTest forgotten = subject;
    forgotten.forget();
    const Instant later = std::max(walk.now(), subject.expires_at());
    expect_same_answers(subject, forgotten, later, *forward_steps(40));
  });
}

TEST_P(Equivalences, OnlyDifferencesOfTimeMatter) {
  check_property(300, [&] {
    const Quota quota = *any_quota(GetParam());
    // Far from 1970, where steps back would be clamped.
    const Instant start = any_start() + Days{5'000'000};
    const auto shift = *rc::gen::inRange<std::int64_t>(1, Days{5'000'000} / quota.period());
    const Duration tick =
        quota.is_bucket() ? Duration{*rc::gen::inRange(0, 1'000'000)} : Duration{0};
    KeyUnderTest subject(quota);
    KeyUnderTest shifted(quota);
    oracle::Walk walk(quota, start, kNoEnd);
    oracle::Walk shifted_walk(quota, start + shift * quota.period() + tick, kNoEnd);
    for (oracle::Step step : *any_steps(60)) {
      // Buckets have no boundaries, and the shift may move them.
      const bool to_boundary = step.jump >= oracle::Jump::JustBeforeBoundary &&
                               step.jump <= oracle::Jump::JustAfterBoundary;
      if (quota.is_bucket() && to_boundary) step.jump = oracle::Jump::PartOfPeriod;
      RC_ASSERT(subject.follow(walk, step) == shifted.follow(shifted_walk, step));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Equivalences, ::testing::ValuesIn(kAlgorithms), name_of);

class BucketEquivalences : public ::testing::TestWithParam<Algorithm> {};

TEST_P(BucketEquivalences, EqualRatesInDifferentUnitsBehaveEqually) {
  check_property(300, [&] {
    const Quota quota = *any_quota(GetParam());
    const std::int64_t most = std::min<std::int64_t>(Quota::kMaxLimit / quota.limit(),
                                                     Quota::kMaxPeriod / quota.period());
    const auto factor = *rc::gen::inRange<std::int64_t>(1, most + 1);
    QuotaSpec spec = per(quota.limit() * factor, quota.period() * factor).with(GetParam());
    spec.capacity = quota.capacity();
    KeyUnderTest subject(quota);
    KeyUnderTest scaled(Quota::make(spec).value());
    oracle::Walk walk(quota, any_start());
    oracle::Walk same_walk = walk;
    for (const oracle::Step& step : *any_steps(60)) {
      RC_ASSERT(subject.follow(walk, step) == scaled.follow(same_walk, step));
    }
  });
}

TEST(BucketEquivalences, GcraAndTokenBucketAgreeWhileTimeGoesForward) {
  check_property(300, [&] {
    const Quota gcra = *any_quota(Algorithm::Gcra);
    QuotaSpec spec = per(gcra.limit(), gcra.period()).burst(gcra.capacity());
    KeyUnderTest one(gcra);
    KeyUnderTest other(Quota::make(spec).value());
    oracle::Walk walk(gcra, any_start(), kNoEnd);
    oracle::Walk same_walk = walk;
    for (const oracle::Step& step : *forward_steps(80)) {
      RC_ASSERT(one.follow(walk, step) == other.follow(same_walk, step));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BucketEquivalences,
                         ::testing::Values(Algorithm::TokenBucket, Algorithm::Gcra), name_of);

}  // namespace
}  // namespace penstock::properties
