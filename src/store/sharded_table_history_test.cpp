#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"
#include "reference/reference_store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

// The store answers as core's algorithms do on a plain map, whatever happens to its keys.
namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::quota_of;
using reference::ReferenceStore;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 5> kKeys{"", "a", "b", "user:42",
                                                "a key longer than one block of the hash"};

enum class Action : std::uint8_t { Check, Refund, Reset, Sweep };

struct Step {
  Action action = Action::Check;
  std::size_t key = 0;
  std::size_t quota = 0;
  std::uint64_t cost = 1;
  Duration pause{0};
};

void showValue(const Step& step, std::ostream& out) {
  constexpr std::array kNames{"check", "refund", "reset", "sweep"};
  out << "+" << step.pause.count() << "us " << kNames[static_cast<std::size_t>(step.action)]
      << " key " << step.key << " quota " << step.quota << " cost " << step.cost;
}

template <class Integer>
rc::Gen<Integer> below(Integer bound) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Integer>(0, bound));
}

rc::Gen<std::uint64_t> any_cost() {
  return rc::gen::weightedOneOf<std::uint64_t>(
      {{6, rc::gen::just<std::uint64_t>(1)},
       {3, below<std::uint64_t>(13)},
       {1, rc::gen::element<std::uint64_t>(std::uint64_t{1} << 32U, (std::uint64_t{1} << 32U) + 1,
                                           ~std::uint64_t{0})}});
}

// For quotas of some milliseconds: within a token, around the period, beyond everything.
rc::Gen<Duration> any_pause() {
  return rc::gen::map(
      rc::gen::weightedOneOf<std::int64_t>(
          {{4, rc::gen::just<std::int64_t>(0)},
           {4, below<std::int64_t>(1500)},
           {2, below<std::int64_t>(12'000)},
           {1, rc::gen::element<std::int64_t>(1, 1000, 9999, 10'000, 10'001, 20'000)},
           {1, rc::gen::just<std::int64_t>(1'000'000)}}),
      [](std::int64_t micros) { return Duration{micros}; });
}

rc::Gen<std::vector<Step>> any_steps(std::size_t quotas, int most) {
  const auto step = rc::gen::build<Step>(
      rc::gen::set(
          &Step::action,
          rc::gen::weightedElement<Action>(
              {{20, Action::Check}, {4, Action::Refund}, {1, Action::Reset}, {2, Action::Sweep}})),
      rc::gen::set(&Step::key, below(kKeys.size())), rc::gen::set(&Step::quota, below(quotas)),
      rc::gen::set(&Step::cost, any_cost()), rc::gen::set(&Step::pause, any_pause()));
  return rc::gen::resize(most, rc::gen::container<std::vector<Step>>(step));
}

void follow(ManualStore& store, ReferenceStore& reference, const Step& step, const Quota& quota) {
  const std::string_view key = kKeys[step.key];
  const Instant now = store.clock.now();
  switch (step.action) {
    case Action::Check:
      RC_ASSERT(store.check(key, quota, step.cost) ==
                reference.check(key, quota, Cost{step.cost}, now));
      break;
    case Action::Refund:
      RC_ASSERT(store.store.refund(key, quota, Cost{step.cost}) ==
                reference.refund(key, quota, Cost{step.cost}, now));
      break;
    case Action::Reset: RC_ASSERT(store.store.reset(key) == reference.reset(key, now)); break;
    case Action::Sweep:
      store.store.sweep(200);
      reference.see(now);
      break;
  }
}

void expect_equal_histories(const std::vector<Quota>& quotas, const std::vector<Step>& steps) {
  ManualStore store({.max_keys = ManualStore::kOneShard});
  ReferenceStore reference;
  for (const Step& step : steps) {
    store.clock.advance(step.pause);
    follow(store, reference, step, quotas[step.quota]);
  }
}

class ShardedTableHistory : public ::testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(, ShardedTableHistory, ::testing::ValuesIn(kAlgorithms),
                         reference::name_of);

TEST_P(ShardedTableHistory, AnswersAsCoreDoes) {
  const std::vector<Quota> quotas{quota_of(10, milliseconds{10}, GetParam())};
  EXPECT_TRUE(rc::check("any history under one quota",
                        [&] { expect_equal_histories(quotas, *any_steps(1, 150)); }));
}

TEST_P(ShardedTableHistory, AnswersAsCoreDoesAtOddRates) {
  const std::vector<Quota> quotas{quota_of(7, milliseconds{9}, GetParam())};
  EXPECT_TRUE(rc::check("any history under one quota",
                        [&] { expect_equal_histories(quotas, *any_steps(1, 150)); }));
}

TEST_P(ShardedTableHistory, AnswersAsCoreDoesWhenLimitsChange) {
  const std::vector<Quota> quotas{
      quota_of(10, milliseconds{10}, GetParam()),
      quota_of(4, milliseconds{10}, GetParam()),
      quota_of(12, milliseconds{4}, GetParam()),
      quota_of(10, milliseconds{10},
               kAlgorithms[(static_cast<std::size_t>(GetParam()) + 3) % kAlgorithms.size()]),
  };
  EXPECT_TRUE(rc::check("any history under four quotas",
                        [&] { expect_equal_histories(quotas, *any_steps(quotas.size(), 100)); }));
}

TEST(ShardedTableMixedHistory, AnswersAsCoreDoes) {
  std::vector<Quota> quotas;
  for (const Algorithm algorithm : kAlgorithms)
    quotas.push_back(quota_of(10, milliseconds{10}, algorithm));
  EXPECT_TRUE(rc::check("any history under seven algorithms",
                        [&] { expect_equal_histories(quotas, *any_steps(quotas.size(), 100)); }));
}

TEST_P(ShardedTableHistory, TimeStandsStillForAnyHistoryWithStepsBack) {
  const Quota quota = quota_of(10, milliseconds{10}, GetParam());
  EXPECT_TRUE(rc::check("any history with a clock that steps back", [&] {
    const auto steps = *any_steps(1, 150);
    const auto backwards = *rc::gen::container<std::vector<bool>>(
        steps.size(), rc::gen::weightedElement<bool>({{4, false}, {1, true}}));
    ManualStore store({.max_keys = ManualStore::kOneShard});
    ReferenceStore reference;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      store.clock.advance(backwards[i] ? -steps[i].pause : steps[i].pause);
      follow(store, reference, steps[i], quota);
    }
  }));
}

// Keys of all shards, with enough of them to make the tables grow, expire and shrink again.
TEST_P(ShardedTableHistory, AnswersAsCoreDoesForThousandsOfKeys) {
  const Quota quota = quota_of(3, seconds{1}, GetParam());
  ManualStore store;
  ReferenceStore reference;
  std::uint64_t random = 88172645463325252U;
  for (int step = 0; step < 30'000; ++step) {
    random ^= random << 13U;
    random ^= random >> 7U;
    random ^= random << 17U;
    const std::string key = std::to_string(random % 3000 + (step / 10'000) * 2000);
    const Cost cost{random >> 62U};
    store.clock.advance(Duration{static_cast<std::int64_t>((random >> 32U) % 200)});
    ASSERT_EQ(store.store.check(key, quota, cost),
              reference.check(key, quota, cost, store.clock.now()))
        << "step " << step;
  }
}

struct Asked {
  std::size_t key = 0;
  std::size_t quota = 0;
  std::uint64_t cost = 1;
};

void showValue(const Asked& asked, std::ostream& out) {
  out << "key " << asked.key << " quota " << asked.quota << " cost " << asked.cost;
}

rc::Gen<std::vector<Asked>> any_batch(std::size_t keys, std::size_t quotas, int most) {
  return rc::gen::resize(
      most, rc::gen::container<std::vector<Asked>>(rc::gen::build<Asked>(
                rc::gen::set(&Asked::key, below(keys)), rc::gen::set(&Asked::quota, below(quotas)),
                rc::gen::set(&Asked::cost, any_cost()))));
}

std::vector<Check> checks_of(const std::vector<Asked>& batch, const std::vector<std::string>& keys,
                             const std::vector<Quota>& quotas) {
  std::vector<Check> checks;
  for (const Asked& asked : batch) {
    checks.push_back(
        {.key = keys[asked.key], .quota = quotas[asked.quota], .cost = Cost{asked.cost}});
  }
  return checks;
}

std::vector<std::string> numbered_keys(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t number = 0; number < count; ++number)
    keys.push_back("key " + std::to_string(number));
  return keys;
}

std::vector<Quota> one_of_each_algorithm() {
  std::vector<Quota> quotas;
  for (const Algorithm algorithm : kAlgorithms)
    quotas.push_back(quota_of(5, milliseconds{10}, algorithm));
  return quotas;
}

void expect_batch_equals_sequence(const MemoryOptions& options, std::size_t key_count) {
  const std::vector<std::string> keys = numbered_keys(key_count);
  const std::vector<Quota> quotas = one_of_each_algorithm();
  ManualStore batched(options);
  ManualStore sequential(options);
  for (int batch = 0; batch < 3; ++batch) {
    const std::vector<Check> checks =
        checks_of(*any_batch(key_count, quotas.size(), 200), keys, quotas);
    const Duration pause = *any_pause();
    batched.clock.advance(pause);
    sequential.clock.advance(pause);
    std::vector<Decision> decisions(checks.size());
    batched.store.check_each(checks, decisions);
    for (std::size_t i = 0; i < checks.size(); ++i) {
      RC_ASSERT(decisions[i] ==
                sequential.store.check(checks[i].key, checks[i].quota, checks[i].cost));
    }
  }
}

RC_GTEST_PROP(ShardedTableBatch, EqualsASequenceWithManyDuplicates, ()) {
  expect_batch_equals_sequence({}, 4);
}

RC_GTEST_PROP(ShardedTableBatch, EqualsASequenceOfManyKeys, ()) {
  expect_batch_equals_sequence({}, 1000);
}

RC_GTEST_PROP(ShardedTableBatch, EqualsASequenceWhileKeysAreEvicted, ()) {
  expect_batch_equals_sequence({.max_keys = 60, .max_log_bytes = 2000}, 200);
}

TEST(ShardedTableBatch, MayBeEmpty) {
  ManualStore store;
  store.store.check_each({}, {});
  EXPECT_EQ(store.store.stats().keys, 0U);
}

// Every key under a quota of its own, as limits are meant to be used.
RC_GTEST_PROP(ShardedTableMultiLimit, PassesAndTakesAsASequenceThatAllPass, ()) {
  const std::vector<std::string> keys = numbered_keys(9);
  const std::vector<Quota> quotas = one_of_each_algorithm();
  ManualStore store;
  ReferenceStore reference;
  for (int request = 0; request < 12; ++request) {
    store.clock.advance(*any_pause());
    auto batch = *any_batch(keys.size(), 1, 20);
    for (Asked& asked : batch) asked.quota = asked.key % quotas.size();
    const std::vector<Check> checks = checks_of(batch, keys, quotas);
    const Decision decision = store.store.check_all(checks, {});
    RC_ASSERT(decision.allowed() == reference.check_all(checks, store.clock.now()));
    for (std::size_t key = 0; key < keys.size(); ++key) {
      const Quota& quota = quotas[key % quotas.size()];
      RC_ASSERT(store.peek(keys[key], quota) ==
                reference.check(keys[key], quota, Cost{0}, store.clock.now()));
    }
  }
}

RC_GTEST_PROP(ShardedTableMultiLimit, PassesWhenItSaidThatItWould, ()) {
  const std::vector<std::string> keys = numbered_keys(4);
  const std::vector<Quota> quotas = one_of_each_algorithm();
  ManualStore store;
  for (int request = 0; request < 12; ++request) {
    auto batch = *any_batch(keys.size(), 1, 8);
    for (Asked& asked : batch) asked.quota = asked.key;
    const std::vector<Check> checks = checks_of(batch, keys, quotas);
    const Decision decision = store.store.check_all(checks, {});
    if (decision.outcome() != Outcome::Denied) continue;
    store.clock.advance(*decision.retry_after() - Duration{1});
    RC_ASSERT(store.store.check_all(checks, {}).outcome() == Outcome::Denied);
    store.clock.advance(Duration{1});
    RC_ASSERT(store.store.check_all(checks, {}).allowed());
  }
}

// One key under several quotas in one request is odd, and still takes all or nothing. What a key
// has used may become less, when a quota that denies holds less than was used.
RC_GTEST_PROP(ShardedTableMultiLimit, TakesAllOrNothingWhenOneKeyComesUnderSeveralQuotas, ()) {
  const std::vector<std::string> keys = numbered_keys(2);
  std::vector<Quota> quotas = one_of_each_algorithm();
  quotas.push_back(per(7, milliseconds{9}));
  quotas.push_back(per(5, milliseconds{11}).gcra().burst(6));
  ManualStore store;
  const auto look = [&] {
    std::vector<std::uint32_t> remaining;
    for (const std::string& key : keys) {
      for (const Quota& quota : quotas) remaining.push_back(store.remaining(key, quota));
    }
    return remaining;
  };
  for (int request = 0; request < 20; ++request) {
    store.clock.advance(*any_pause());
    const std::vector<Check> checks =
        checks_of(*any_batch(keys.size(), quotas.size(), 5), keys, quotas);
    const std::vector<std::uint32_t> before = look();
    std::vector<Decision> each(checks.size());
    const Decision decision = store.store.check_all(checks, each);
    if (decision.allowed()) {
      RC_ASSERT(
          std::all_of(each.begin(), each.end(), [](const Decision& one) { return one.allowed(); }));
      continue;
    }
    const std::vector<std::uint32_t> after = look();
    RC_ASSERT(std::equal(before.begin(), before.end(), after.begin(), std::less_equal<>{}));
  }
}

}  // namespace
}  // namespace penstock::store
