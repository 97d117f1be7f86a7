// What one answer promises about the next.
#include "properties/generators.hpp"
#include "properties/key_under_test.hpp"
#include "properties/property.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::properties {
namespace {

class Promises : public ::testing::TestWithParam<Algorithm> {};

// Calls look(subject, answer, step) after every step of a random history.
template <class Look>
void look_at_every_answer(Algorithm algorithm, const rc::Gen<Steps>& histories, Look look) {
  check_property(200, [&] {
    const Quota quota = *any_quota(algorithm);
    KeyUnderTest subject(quota);
    oracle::Walk walk(quota, any_start());
    for (const oracle::Step& step : *histories) {
      const oracle::Answer answer = subject.follow(walk, step);
      look(subject, walk.now(), answer, step);
    }
  });
}

TEST_P(Promises, DeniedUntilRetryAfterAndAllowedAtIt) {
  look_at_every_answer(
      GetParam(), any_steps(80),
      [](const KeyUnderTest& subject, Instant now, const oracle::Answer&, const auto& step) {
        const Cost cost{step.draw % subject.quota().capacity() + 1};
        KeyUnderTest later = subject;
        const oracle::Answer answer = later.check(cost, now);
        if (answer.allowed) return;
        const Duration retry = answer.retry_after.value();
        RC_ASSERT(retry > Duration{0});
        const Duration sooner{static_cast<std::int64_t>(step.draw) % retry.count()};
        RC_ASSERT(!later.peek(cost, now + sooner).allowed);
        RC_ASSERT(!later.peek(cost, now + retry - Duration{1}).allowed);
        RC_ASSERT(later.peek(cost, now + retry).allowed);
      });
}

TEST_P(Promises, AHigherCostIsNeverAllowedEarlier) {
  look_at_every_answer(
      GetParam(), any_steps(80),
      [](const KeyUnderTest& subject, Instant now, const oracle::Answer&, const auto& step) {
        const std::uint64_t more = step.draw % subject.quota().capacity() + 1;
        const std::uint64_t less = step.draw / 64 % more + 1;
        RC_ASSERT(subject.peek(Cost{less}, now).retry_after.value() <=
                  subject.peek(Cost{more}, now).retry_after.value());
      });
}

TEST_P(Promises, ExactlyWhatRemainsCanBeTaken) {
  look_at_every_answer(
      GetParam(), any_steps(80),
      [](const KeyUnderTest& subject, Instant now, const oracle::Answer& last, const auto& step) {
        const bool is_refund = step.action == oracle::Action::Refund;
        const oracle::Answer answer = is_refund ? subject.peek(Cost{0}, now) : last;
        RC_ASSERT(subject.peek(Cost{answer.remaining}, now).allowed == (answer.remaining > 0));
        RC_ASSERT(!subject.peek(Cost{std::uint64_t{answer.remaining} + 1}, now).allowed);
        RC_ASSERT(subject.peek(Cost{0}, now).remaining == answer.remaining);
        // A sliding counter may exceed the limit after a clock step back.
        const std::uint32_t capacity = subject.quota().capacity();
        RC_ASSERT(std::min(subject.used(now), capacity) == capacity - answer.remaining);
      });
}

TEST_P(Promises, NothingIsUsedAfterReset) {
  look_at_every_answer(
      GetParam(), any_steps(80),
      [](const KeyUnderTest& subject, Instant now, const oracle::Answer&, const auto&) {
        const oracle::Answer answer = subject.peek(Cost{0}, now);
        const Instant reset = now + answer.reset_after;
        RC_ASSERT(subject.peek(Cost{0}, reset).remaining == subject.quota().capacity());
        RC_ASSERT(subject.peek(Cost{0}, reset).reset_after == Duration{0});
        if (answer.reset_after == Duration{0}) return;
        RC_ASSERT(subject.peek(Cost{0}, reset - Duration{1}).reset_after == Duration{1});
      });
}

TEST_P(Promises, ADenialAndAPeekChangeNothing) {
  check_property(200, [&] {
    const Quota quota = *any_quota(GetParam());
    KeyUnderTest subject(quota);
    oracle::Walk walk(quota, any_start(), kNoEnd);
    for (const oracle::Step& step : *forward_checks(80)) {
      const core::AnyState before = subject.state();
      const oracle::Answer answer = subject.follow(walk, step);
      if (!answer.allowed || step.ask == oracle::Ask::Nothing) RC_ASSERT(subject.state() == before);
    }
  });
}

TEST_P(Promises, ADenialRepeatedAfterAClockStepChangesNothing) {
  look_at_every_answer(
      GetParam(), any_steps(80),
      [](const KeyUnderTest& subject, Instant now, const oracle::Answer&, const auto& step) {
        const Cost cost{step.draw % (std::uint64_t{subject.quota().capacity()} + 2)};
        KeyUnderTest once = subject;
        const oracle::Answer answer = once.check(cost, now);
        if (answer.allowed && cost.units > 0) return;
        KeyUnderTest twice = once;
        RC_ASSERT(twice.check(cost, now) == answer);
        RC_ASSERT(twice.state() == once.state());
      });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Promises, ::testing::ValuesIn(kAlgorithms), name_of);

}  // namespace
}  // namespace penstock::properties
