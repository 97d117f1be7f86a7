#include "store/counter_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace penstock::store {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Decimal decimal(std::string_view text) { return Decimal::parse(text).value(); }

// Counters on a clock that stands still.
struct ManualCounters {
  explicit ManualCounters(std::uint64_t most = 1000) : counters(hasher, clock, most) {}

  Result<std::int64_t> add(std::string_view name, std::int64_t delta,
                           std::optional<Duration> lifetime = {}) {
    return counters.add(name, delta, lifetime);
  }
  Result<Decimal> add(std::string_view name, Decimal delta, std::optional<Duration> lifetime = {}) {
    return counters.add(name, delta, lifetime);
  }

  // Where the sum does not matter.
  template <class Number>
  void put(std::string_view name, Number delta, std::optional<Duration> lifetime = {}) {
    EXPECT_TRUE(counters.add(name, delta, lifetime).has_value()) << name;
  }

  ManualClock clock;
  KeyHasher hasher{{1, 2}};
  CounterTable counters;
};

TEST(CounterTable, AddsSignedNumbersAndReturnsTheSum) {
  ManualCounters store;
  EXPECT_EQ(store.add("n", 5).value(), 5);
  EXPECT_EQ(store.add("n", -7).value(), -2);
  EXPECT_EQ(store.add("n", 0).value(), -2);
  EXPECT_EQ(store.counters.get("n"), -2);
}

TEST(CounterTable, IsZeroForAnUnknownCounter) {
  ManualCounters store;
  EXPECT_EQ(store.counters.get("n"), 0);
  EXPECT_EQ(store.counters.get_decimal("n"), Decimal{});
}

TEST(CounterTable, KeepsNamesApart) {
  ManualCounters store;
  store.put("a", 1);
  store.put("b", 2);
  store.put("", 3);
  EXPECT_EQ(store.counters.get("a"), 1);
  EXPECT_EQ(store.counters.get("b"), 2);
  EXPECT_EQ(store.counters.get(""), 3);
}

TEST(CounterTable, KeepsTheIntegerAndTheDecimalOfOneNameApart) {
  ManualCounters store;
  store.put("n", 5);
  EXPECT_EQ(store.counters.get_decimal("n"), Decimal{});
  EXPECT_EQ(store.add("n", decimal("0.25")).value(), decimal("0.25"));
  EXPECT_EQ(store.counters.get("n"), 5);
  EXPECT_EQ(store.counters.get_decimal("n"), decimal("0.25"));
}

TEST(CounterTable, DecimalsAreExact) {
  ManualCounters store;
  for (int i = 0; i < 10; ++i) store.put("n", decimal("0.1"));
  EXPECT_EQ(store.counters.get_decimal("n"), decimal("1"));
  EXPECT_EQ(store.add("n", decimal("-1.000000001")).value(), decimal("-0.000000001"));
}

TEST(CounterTable, ResetForgetsBothAndSaysWhetherThereWasOne) {
  ManualCounters store;
  EXPECT_FALSE(store.counters.reset("n"));
  store.put("n", 5);
  EXPECT_TRUE(store.counters.reset("n"));
  store.put("n", decimal("5"));
  EXPECT_TRUE(store.counters.reset("n"));
  store.put("n", 5);
  store.put("n", decimal("5"));
  EXPECT_TRUE(store.counters.reset("n"));
  EXPECT_EQ(store.counters.get("n"), 0);
  EXPECT_EQ(store.counters.get_decimal("n"), Decimal{});
  EXPECT_FALSE(store.counters.reset("n"));
}

TEST(CounterTable, ACounterAtZeroIsStillThere) {
  ManualCounters store;
  store.put("n", 0);
  EXPECT_TRUE(store.counters.reset("n"));
}

TEST(CounterTable, OverflowIsAnErrorAndChangesNothing) {
  ManualCounters store;
  store.put("n", kMax);
  const Result<std::int64_t> beyond = store.add("n", 1);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::Overflow);
  EXPECT_NE(beyond.error().detail.find("\"n\""), std::string::npos) << beyond.error().detail;
  EXPECT_EQ(store.counters.get("n"), kMax);
  EXPECT_EQ(store.add("n", -1).value(), kMax - 1);

  store.put("low", kMin);
  EXPECT_FALSE(store.add("low", -1));
  EXPECT_EQ(store.counters.get("low"), kMin);
  EXPECT_EQ(store.add("low", kMax).value(), -1);
}

TEST(CounterTable, OverflowOfADecimalIsAnErrorAndChangesNothing) {
  ManualCounters store;
  store.put("n", decimal("9223372036.854775807"));
  const Result<Decimal> beyond = store.add("n", decimal("0.000000001"));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::Overflow);
  EXPECT_EQ(store.counters.get_decimal("n"), decimal("9223372036.854775807"));
}

TEST(CounterTable, ALifetimeStartsWhenTheCounterIsCreatedAndIsNotProlonged) {
  ManualCounters store;
  store.put("n", 1, hours{1});
  store.clock.advance(seconds{3599});
  EXPECT_EQ(store.add("n", 1, hours{1}).value(), 2);
  store.clock.advance(seconds{1} - Duration{1});
  EXPECT_EQ(store.counters.get("n"), 2);
  store.clock.advance(Duration{1});
  EXPECT_EQ(store.counters.get("n"), 0);
  EXPECT_FALSE(store.counters.reset("n"));
}

TEST(CounterTable, ALifetimeIsNotGivenToACounterThatIsThereWithoutOne) {
  ManualCounters store;
  store.put("n", 1);
  store.put("n", 1, seconds{1});
  store.clock.advance(Days{1000});
  EXPECT_EQ(store.counters.get("n"), 2);
}

TEST(CounterTable, StartsAfreshWhenALifetimeHasEnded) {
  ManualCounters store;
  store.put("n", 7, seconds{1});
  store.clock.advance(seconds{1});
  EXPECT_EQ(store.add("n", 3, seconds{10}).value(), 3);
  store.clock.advance(seconds{9});
  EXPECT_EQ(store.counters.get("n"), 3);
  store.clock.advance(seconds{1});
  EXPECT_EQ(store.add("n", 4).value(), 4);
  store.clock.advance(Days{1});
  EXPECT_EQ(store.counters.get("n"), 4);
}

TEST(CounterTable, RejectsALifetimeThatHasNoLength) {
  ManualCounters store;
  for (const Duration lifetime : {Duration{0}, Duration{-1}, Duration::min()}) {
    const Result<std::int64_t> result = store.add("n", 1, lifetime);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
    EXPECT_NE(result.error().detail.find(std::to_string(lifetime.count())), std::string::npos)
        << result.error().detail;
  }
  EXPECT_FALSE(store.counters.reset("n"));
}

TEST(CounterTable, ALifetimeBeyondTheEndOfTimeNeverEnds) {
  ManualCounters store;
  store.put("n", 1, Duration::max());
  store.clock.advance(Days{100'000});
  EXPECT_EQ(store.counters.get("n"), 1);
}

TEST(CounterTable, TimeStandsStillWhileTheClockIsBehind) {
  ManualCounters store;
  store.put("n", 1, seconds{10});
  store.clock.advance(seconds{10});
  EXPECT_EQ(store.counters.get("n"), 0);
  store.clock.advance(-seconds{5});
  EXPECT_EQ(store.counters.get("n"), 0) << "what has ended stays ended";
  EXPECT_FALSE(store.counters.reset("n"));
  store.put("n", 1, seconds{10});
  store.clock.advance(seconds{14});
  EXPECT_EQ(store.counters.get("n"), 1) << "its life began when the clock was last ahead";
  store.clock.advance(seconds{1});
  EXPECT_EQ(store.counters.get("n"), 0);
}

TEST(CounterTable, OneMoreThanAllowedIsAnErrorAndChangesNothing) {
  ManualCounters store(3);
  store.put("a", 1);
  store.put("b", 1);
  store.put("b", decimal("1"));
  const Result<std::int64_t> result = store.add("c", 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::CapacityExhausted);
  EXPECT_NE(result.error().detail.find("\"c\""), std::string::npos) << result.error().detail;
  EXPECT_NE(result.error().detail.find('3'), std::string::npos) << result.error().detail;
  EXPECT_EQ(store.counters.get("c"), 0);
  EXPECT_FALSE(store.add("c", decimal("1")));
  EXPECT_EQ(store.add("a", 1).value(), 2) << "those that are there go on";
  store.counters.reset("b");
  EXPECT_EQ(store.add("c", 1).value(), 1);
  EXPECT_EQ(store.add("d", 1).value(), 1);
  EXPECT_FALSE(store.add("e", 1));
}

TEST(CounterTable, NoCountersAtAllMayBeAllowed) {
  ManualCounters store(0);
  EXPECT_FALSE(store.add("a", 1));
  EXPECT_EQ(store.counters.get("a"), 0);
}

// Expired counters do not keep new ones out, wherever they are kept.
TEST(CounterTable, CountersThatHaveEndedMakeRoom) {
  for (int other = 0; other < 200; ++other) {
    ManualCounters store(2);
    store.put("permanent", 1);
    store.put("brief", 1, seconds{1});
    store.clock.advance(seconds{1});
    const std::string name = std::to_string(other);
    EXPECT_TRUE(store.add(name, 1)) << name;
    EXPECT_FALSE(store.add("one more", 1)) << name;
  }
}

TEST(CounterTable, ManyGenerationsFitWhereOneDoes) {
  ManualCounters store(500);
  for (int generation = 0; generation < 20; ++generation) {
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(
          store.add(std::to_string(generation) + "/" + std::to_string(i), 1, seconds{1 + i % 3}))
          << generation << "/" << i;
    }
    EXPECT_FALSE(store.add("one more", 1));
    store.clock.advance(seconds{3});
  }
}

TEST(CounterTable, NeverForgetsOneThatHasNoEnd) {
  ManualCounters store(100'000);
  for (int i = 0; i < 20'000; ++i) store.put(std::to_string(i), i);
  store.clock.advance(Days{10'000});
  for (int i = 0; i < 20'000; ++i) {
    store.put("brief " + std::to_string(i), 1, seconds{1});
    store.clock.advance(Duration{100});
  }
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(store.counters.get(std::to_string(i)), i);
}

RC_GTEST_PROP(CounterTable, SumsLikeAMap, ()) {
  struct Expected {
    std::int64_t value = 0;
    Instant ends = Instant::max();
  };
  ManualCounters store;
  std::map<int, Expected> expected;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::int64_t, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::arbitrary<std::int64_t>(),
                     rc::gen::inRange(0, 3), rc::gen::inRange(0, 2000)));
  for (const auto& [key, delta, life, pause] : steps) {
    store.clock.advance(std::chrono::milliseconds{pause});
    const Instant now = store.clock.now();
    if (expected.contains(key) && expected[key].ends <= now) expected.erase(key);
    const std::string name = std::to_string(key);
    RC_ASSERT(store.counters.get(name) == (expected.contains(key) ? expected[key].value : 0));
    const Result<std::int64_t> result =
        life == 0 ? store.add(name, delta) : store.add(name, delta, seconds{life});
    if (!expected.contains(key)) {
      expected[key] = {.value = delta, .ends = life == 0 ? Instant::max() : now + seconds{life}};
      RC_ASSERT(result.value() == delta);
      continue;
    }
    std::int64_t sum = 0;
    const bool overflows = __builtin_add_overflow(expected[key].value, delta, &sum);
    RC_ASSERT(result.has_value() == !overflows);
    if (!overflows) expected[key].value = sum;
    RC_ASSERT(store.counters.get(name) == expected[key].value);
  }
}

template <class Work>
void run_on_eight_threads(const Work& work) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&work, thread] { work(thread); });
}

TEST(CounterTableConcurrency, LosesNoAddition) {
  ManualCounters store;
  run_on_eight_threads([&](int thread) {
    for (int i = 0; i < 5000; ++i) {
      store.put("shared", i % 2 == 0 ? 3 : -1);
      store.put("shared", decimal("0.001"));
      store.put("mine " + std::to_string(thread), 1);
    }
  });
  EXPECT_EQ(store.counters.get("shared"), 8 * 5000);
  EXPECT_EQ(store.counters.get_decimal("shared"), decimal("40"));
  for (int thread = 0; thread < 8; ++thread)
    EXPECT_EQ(store.counters.get("mine " + std::to_string(thread)), 5000);
}

TEST(CounterTableConcurrency, EverySumIsReturnedOnce) {
  ManualCounters store;
  std::vector<std::vector<std::int64_t>> told(8);
  run_on_eight_threads([&](int thread) {
    for (int i = 0; i < 2000; ++i)
      told[static_cast<std::size_t>(thread)].push_back(store.add("n", 1).value());
  });
  std::vector<bool> seen(8 * 2000 + 1);
  for (const std::vector<std::int64_t>& sums : told) {
    for (const std::int64_t sum : sums) {
      ASSERT_FALSE(seen[static_cast<std::size_t>(sum)]);
      seen[static_cast<std::size_t>(sum)] = true;
    }
  }
}

TEST(CounterTableConcurrency, TheBoundHoldsWhileCountersComeAndGo) {
  constexpr std::uint64_t kBound = 100;
  ManualCounters store(kBound);
  std::atomic<std::uint64_t> created{0};
  run_on_eight_threads([&](int thread) {
    for (int i = 0; i < 500; ++i) {
      const std::string name = std::to_string(thread) + "/" + std::to_string(i);
      if (store.add(name, 1)) ++created;
    }
  });
  EXPECT_EQ(created.load(), kBound);
  run_on_eight_threads([&](int thread) {
    for (int i = 0; i < 500; ++i) {
      store.counters.reset(std::to_string(thread) + "/" + std::to_string(i));
      static_cast<void>(store.add("brief " + std::to_string(i), 1, seconds{1}));
      store.clock.advance(std::chrono::milliseconds{10});
    }
  });
  store.clock.advance(seconds{1});
  for (std::uint64_t i = 0; i < kBound; ++i)
    EXPECT_TRUE(store.add("last " + std::to_string(i), 1)) << i;
  EXPECT_FALSE(store.add("one more", 1)) << "no place was lost or found";
}

TEST(CounterTable, ShowsBothNumbersOfANameAndTheLongerLife) {
  ManualCounters store;
  EXPECT_FALSE(store.counters.read("n").integer);
  store.put("n", std::int64_t{3}, seconds{10});
  store.put("n", decimal("0.5"), seconds{20});
  const CounterValues content = store.counters.read("n");
  EXPECT_EQ(content.integer, 3);
  EXPECT_EQ(content.decimal, 500'000'000);
  EXPECT_EQ(content.lifetime, Duration{seconds{20}});
  store.clock.advance(seconds{10});
  EXPECT_FALSE(store.counters.read("n").integer);
  EXPECT_EQ(store.counters.read("n").lifetime, Duration{seconds{10}});
}

TEST(CounterTable, EndsWhenItsNewLifetimeDoes) {
  ManualCounters store;
  EXPECT_FALSE(store.counters.expire("n", seconds{1}, ExpireCondition::Always));
  store.put("n", std::int64_t{3});
  EXPECT_EQ(store.counters.read("n").lifetime, std::nullopt);
  EXPECT_TRUE(store.counters.expire("n", seconds{5}, ExpireCondition::IfPersistent));
  EXPECT_FALSE(store.counters.expire("n", seconds{50}, ExpireCondition::IfPersistent));
  store.clock.advance(seconds{4});
  EXPECT_EQ(store.counters.get("n"), 3);
  EXPECT_TRUE(store.counters.expire("n", seconds{2}, ExpireCondition::Always));
  store.clock.advance(seconds{2});
  EXPECT_EQ(store.counters.get("n"), 0);
}

// A place is free again once a lifetime that was set later has ended.
TEST(CounterTable, EvictsCountersWhoseNewLifetimeEnded) {
  ManualCounters store(2);
  store.put("a", std::int64_t{1});
  store.put("b", std::int64_t{1});
  EXPECT_FALSE(store.add("c", 1));
  EXPECT_TRUE(store.counters.expire("a", seconds{5}, ExpireCondition::Always));
  store.clock.advance(seconds{5});
  EXPECT_TRUE(store.add("c", 1));
}

}  // namespace
}  // namespace penstock::store
