#include "properties/generators.hpp"
#include "properties/key_under_test.hpp"
#include "properties/property.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::properties {
namespace {

class ConfigChange : public ::testing::TestWithParam<Algorithm> {};

// A key with a history under a quota of some algorithm, then under another quota of the algorithm
// under test.
struct Changed {
  KeyUnderTest before;
  KeyUnderTest after;
  Instant now;
};

// The quota changes after one more clock move.
Changed change(const Quota& from, const Quota& to, oracle::Walk walk, const Steps& steps,
               const oracle::Step& last) {
  KeyUnderTest subject(from);
  for (const oracle::Step& step : steps) static_cast<void>(subject.follow(walk, step));
  const Instant now = walk.next(last).now;
  KeyUnderTest changed = subject;
  changed.change_quota(to);
  return {.before = subject, .after = changed, .now = now};
}

oracle::Step last_of(const Steps& steps) { return steps.empty() ? oracle::Step{} : steps.back(); }

// In half of the cases only the limit changes.
Changed any_change(Algorithm algorithm) {
  const Quota to = *any_quota(algorithm);
  const bool only_limit = *rc::gen::arbitrary<bool>();
  QuotaSpec spec = per(to.limit(), to.period()).with(algorithm);
  spec.sub_window_count = to.sub_window_count();
  spec.limit = only_limit ? *rc::gen::inRange<std::int64_t>(1, std::int64_t{to.limit()} * 2 + 1)
                          : spec.limit;
  if (to.is_bucket()) spec.capacity = to.capacity();
  const Result<Quota> neighbour = Quota::make(spec);
  const Quota from = only_limit && neighbour ? *neighbour : *any_quota(*any_algorithm());
  return change(from, to, oracle::Walk(from, any_start()), *any_steps(40), last_of(*any_steps(5)));
}

TEST_P(ConfigChange, UsageIsKept) {
  check_property(500, [&] {
    const Changed key = any_change(GetParam());
    const std::uint32_t used = key.before.used(key.now);
    const std::uint32_t capacity = key.after.quota().capacity();
    RC_ASSERT(key.after.peek(Cost{0}, key.now).remaining == capacity - std::min(used, capacity));
    RC_ASSERT(key.after.used(key.now) == used);
  });
}

TEST_P(ConfigChange, RetryAfterStaysCorrect) {
  check_property(500, [&] {
    Changed key = any_change(GetParam());
    const Cost cost{
        *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{key.after.quota().capacity()} + 1)};
    const oracle::Answer answer = key.after.check(cost, key.now);
    RC_PRE(!answer.allowed);
    const Duration retry = answer.retry_after.value();
    RC_ASSERT(!key.after.peek(cost, key.now + retry - Duration{1}).allowed);
    RC_ASSERT(key.after.peek(cost, key.now + retry).allowed);
  });
}

TEST_P(ConfigChange, NothingIsUsedAfterReset) {
  check_property(500, [&] {
    Changed key = any_change(GetParam());
    const Duration reset_after = key.after.check(Cost{0}, key.now).reset_after;
    RC_ASSERT(key.after.peek(Cost{0}, key.now + reset_after).remaining ==
              key.after.quota().capacity());
  });
}

TEST_P(ConfigChange, ToAnEqualQuotaChangesNoAnswer) {
  check_property(300, [&] {
    const Quota quota = *any_quota(GetParam());
    Changed key = change(quota, quota, oracle::Walk(quota, any_start(), kNoEnd), *forward_steps(40),
                         last_of(*forward_steps(5)));
    oracle::Walk walk(quota, key.now, kNoEnd);
    oracle::Walk same_walk = walk;
    for (const oracle::Step& step : *forward_steps(40)) {
      RC_ASSERT(key.before.follow(walk, step) == key.after.follow(same_walk, step));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ConfigChange, ::testing::ValuesIn(kAlgorithms), name_of);

}  // namespace
}  // namespace penstock::properties
