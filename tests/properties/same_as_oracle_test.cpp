#include "oracle/walk.hpp"
#include "properties/generators.hpp"
#include "properties/key_under_test.hpp"
#include "properties/property.hpp"

#include <gtest/gtest.h>

namespace penstock::properties {
namespace {

class SameAsOracle : public ::testing::TestWithParam<Algorithm> {};

void expect_same(const oracle::Answer& got, const oracle::Answer& wanted,
                 const KeyUnderTest& subject) {
  if (got == wanted) return;
  RC_FAIL("quota " + to_string(subject.quota()) + "\n" + subject.record() + "got    " +
          to_string(got) + "\nwanted " + to_string(wanted));
}

void compare(const Quota& quota, oracle::Walk walk, const Steps& steps) {
  KeyUnderTest subject(quota);
  const std::unique_ptr<oracle::Model> model = oracle::make_model(quota);
  for (const oracle::Step& step : steps) {
    const oracle::Move move = walk.next(step);
    if (move.action == oracle::Action::Refund) {
      subject.refund(move.cost, move.now);
      model->refund(move.cost, move.now);
      const oracle::Answer wanted = model->peek(Cost{1}, move.now);
      expect_same(subject.peek(Cost{1}, move.now), wanted, subject);
      walk.observe(wanted);
      continue;
    }
    if (step.draw % 4 == 0) {
      expect_same(subject.peek(move.cost, move.now), model->peek(move.cost, move.now), subject);
    }
    const oracle::Answer wanted = model->check(move.cost, move.now);
    expect_same(subject.check(move.cost, move.now), wanted, subject);
    walk.observe(wanted);
  }
}

TEST_P(SameAsOracle, WhileTimeMovesForward) {
  check_property(300, [&] {
    const Quota quota = *any_quota(GetParam());
    compare(quota, oracle::Walk(quota, any_start(), kNoEnd), *forward_steps(60));
  });
}

TEST_P(SameAsOracle, WhenTheClockStepsBack) {
  check_property(500, [&] {
    const Quota quota = *any_quota(GetParam());
    compare(quota, oracle::Walk(quota, any_start()), *any_steps(60));
  });
}

TEST_P(SameAsOracle, ForSmallQuotasInLongHistories) {
  check_property(100, [&] {
    const Quota quota = *small_quota(GetParam());
    compare(quota, oracle::Walk(quota, any_start()), *any_steps(300));
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, SameAsOracle, ::testing::ValuesIn(kAlgorithms), name_of);

}  // namespace
}  // namespace penstock::properties
