#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"
#include "reference/reference_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <random>
#include <string>
#include <thread>
#include <vector>

// Many threads at once. Run under the thread sanitizer as well.
namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::quota_of;
using reference::ReferenceStore;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kThreads = 8;

// Runs work(thread number) on all threads, which start at the same time, and waits for them.
template <class Work>
void run_concurrently(const Work& work) {
  std::barrier start(kThreads);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      work(thread);
    });
  }
}

class ShardedTableConcurrency : public ::testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(, ShardedTableConcurrency, ::testing::ValuesIn(kAlgorithms),
                         reference::name_of);

TEST_P(ShardedTableConcurrency, AdmitsExactlyTheLimitOfOneKey) {
  ManualStore store;
  const Quota quota = quota_of(10'000, hours{1}, GetParam());
  std::atomic<int> admitted{0};
  run_concurrently([&](int) {
    for (int i = 0; i < 10'000; ++i) admitted += store.check("k", quota).allowed() ? 1 : 0;
  });
  EXPECT_EQ(admitted.load(), 10'000);
}

TEST_P(ShardedTableConcurrency, AdmitsExactlyTheLimitOfEachOfManyKeys) {
  ManualStore store;
  const Quota quota = quota_of(200, hours{1}, GetParam());
  constexpr std::size_t kKeys = 200;
  std::array<std::atomic<int>, kKeys> admitted{};
  run_concurrently([&](int thread) {
    for (std::size_t i = 0; i < 40 * kKeys; ++i) {
      // each thread in another order
      const std::size_t key = (i * 7 + static_cast<std::size_t>(thread) * 31) % kKeys;
      admitted[key] += store.check(std::to_string(key), quota).allowed() ? 1 : 0;
    }
  });
  for (std::size_t key = 0; key < kKeys; ++key) EXPECT_EQ(admitted[key].load(), 200) << key;
}

TEST_P(ShardedTableConcurrency, AdmitsInEachInstantWhatOneThreadWould) {
  ManualStore store;
  ReferenceStore reference;
  const Quota quota = quota_of(100, milliseconds{100}, GetParam());
  constexpr std::array kSteps{0, 1, 13, 999, 20'000, 29'000, 50'000, 49'999, 1, 150'000};
  for (const int micros : kSteps) {
    store.clock.advance(Duration{micros});
    int expected = 0;
    while (reference.check("k", quota, Cost{1}, store.clock.now()).allowed()) ++expected;
    std::atomic<int> admitted{0};
    run_concurrently([&](int) {
      for (int i = 0; i < 30; ++i) admitted += store.check("k", quota).allowed() ? 1 : 0;
    });
    EXPECT_EQ(admitted.load(), expected) << "after a step of " << micros << " us";
    EXPECT_EQ(store.peek("k", quota), reference.check("k", quota, Cost{0}, store.clock.now()));
  }
}

// A thread that read the clock, was suspended, and checks after others have moved on.
TEST_P(ShardedTableConcurrency, NeverAdmitsMoreThanTheBoundWhileTheClockMoves) {
  ManualStore store;
  const Quota quota = quota_of(500, milliseconds{100}, GetParam());
  // two periods: with a burst or a period before them, or with two windows that they also touch
  const bool touches_four = !quota.is_bucket() && GetParam() != Algorithm::SlidingLog &&
                            GetParam() != Algorithm::SubWindows;
  const int most = touches_four ? 4 * 500 : 3 * 500;
  std::atomic<int> admitted{0};
  run_concurrently([&](int thread) {
    for (int i = 0; i < 10'000; ++i) {
      if (thread == 0 && i % 50 == 0) store.clock.advance(milliseconds{1});
      admitted += store.check("k", quota).allowed() ? 1 : 0;
    }
  });
  EXPECT_LE(admitted.load(), most);
  EXPECT_GE(admitted.load(), 500);
}

TEST_P(ShardedTableConcurrency, RefundsAndTakesLeaveNothingBehind) {
  ManualStore store;
  const Quota quota = quota_of(100, hours{1}, GetParam());
  run_concurrently([&](int) {
    for (int i = 0; i < 3000; ++i) {
      if (store.check("k", quota, 3).allowed()) store.store.refund("k", quota, Cost{3});
    }
  });
  EXPECT_EQ(store.remaining("k", quota), 100U);
}

TEST_P(ShardedTableConcurrency, BatchesAdmitExactlyTheLimit) {
  ManualStore store;
  const Quota quota = quota_of(300, hours{1}, GetParam());
  const std::array<std::string, 3> keys{"a", "b", "c"};
  std::array<std::atomic<int>, 3> admitted{};
  run_concurrently([&](int thread) {
    std::vector<Check> checks;
    for (std::size_t i = 0; i < 150; ++i) {
      checks.push_back({.key = keys[(i + static_cast<std::size_t>(thread)) % 3], .quota = quota});
    }
    std::vector<Decision> decisions(checks.size());
    store.store.check_each(checks, decisions);
    for (std::size_t i = 0; i < checks.size(); ++i) {
      const std::size_t key = (i + static_cast<std::size_t>(thread)) % 3;
      admitted[key] += decisions[i].allowed() ? 1 : 0;
    }
  });
  for (const std::atomic<int>& of_key : admitted) EXPECT_EQ(of_key.load(), 300);
}

TEST(ShardedTableConcurrencyOfBuckets, AdmitBurstAndRefillToTheLastTokenWhileTheClockMoves) {
  for (const Algorithm algorithm : {Algorithm::TokenBucket, Algorithm::Gcra}) {
    ManualStore store;
    const Quota quota = quota_of(1000, seconds{1}, algorithm);
    // drained first, and for less than a whole refill: no token is lost to a full bucket
    store.take("k", quota, 1000);
    std::atomic<int> admitted{0};
    run_concurrently([&](int thread) {
      for (int i = 0; i < 18'000; ++i) {
        if (thread == 0 && i % 20 == 0) store.clock.advance(milliseconds{1});
        admitted += store.check("k", quota).allowed() ? 1 : 0;
      }
    });
    while (store.check("k", quota).allowed()) ++admitted;
    EXPECT_EQ(admitted.load(), 900);
  }
}

// Requests over overlapping keys in all orders: no thread waits forever, and what is used of each
// key is what the admitted requests took.
TEST(ShardedTableConcurrencyMultiLimit, TakesAllOrNothing) {
  ManualStore store;
  constexpr std::size_t kKeys = 24;
  std::vector<std::string> keys;
  std::vector<Quota> quotas;
  for (std::size_t key = 0; key < kKeys; ++key) {
    keys.push_back("key " + std::to_string(key));
    quotas.push_back(quota_of(2000 + 200 * static_cast<std::int64_t>(key), hours{24},
                              kAlgorithms[key % kAlgorithms.size()]));
  }
  std::array<std::atomic<std::uint64_t>, kKeys> taken{};
  std::atomic<int> denied{0};
  run_concurrently([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    std::vector<std::size_t> order(kKeys);
    for (std::size_t i = 0; i < kKeys; ++i) order[i] = i;
    for (int request = 0; request < 2000; ++request) {
      std::shuffle(order.begin(), order.end(), random);
      std::vector<Check> checks;
      for (std::size_t i = 0; i < 1 + random() % 20; ++i) {
        checks.push_back(
            {.key = keys[order[i]], .quota = quotas[order[i]], .cost = Cost{1 + random() % 3}});
      }
      if (!store.store.check_all(checks, {}).allowed()) {
        ++denied;
        continue;
      }
      for (std::size_t i = 0; i < checks.size(); ++i) taken[order[i]] += checks[i].cost.units;
    }
  });
  EXPECT_GT(denied.load(), 0);
  for (std::size_t key = 0; key < kKeys; ++key) {
    EXPECT_EQ(quotas[key].limit() - store.remaining(keys[key], quotas[key]), taken[key].load())
        << key;
  }
}

TEST(ShardedTableConcurrencyMultiLimit, TwoKeysInOppositeOrdersStayEqual) {
  ManualStore store;
  const Quota quota = quota_of(20'000, hours{1}, Algorithm::FixedWindow);
  std::atomic<std::uint32_t> admitted{0};
  run_concurrently([&](int thread) {
    const std::array<Check, 2> forward{Check{"a", quota}, Check{"b", quota}};
    const std::array<Check, 2> backward{Check{"b", quota}, Check{"a", quota}};
    for (int i = 0; i < 5000; ++i) {
      if (store.store.check_all(thread % 2 == 0 ? forward : backward, {}).allowed()) ++admitted;
    }
  });
  EXPECT_EQ(admitted.load(), 20'000U);
  EXPECT_EQ(store.remaining("a", quota), 0U);
  EXPECT_EQ(store.remaining("b", quota), 0U);
}

TEST(ShardedTableConcurrencyMultiLimit, NamedLimitsAreTakenTogether) {
  ManualStore store;
  const Limits limits = Limits::make({{"first", per_day(3000)},
                                      {"second", per_day(3000).sliding_log()},
                                      {"third", per_day(2000).gcra()}})
                            .value();
  std::atomic<std::uint32_t> admitted{0};
  run_concurrently([&](int) {
    for (int i = 0; i < 2000; ++i) {
      if (store.store.check("k", limits, Cost{}).allowed()) ++admitted;
    }
  });
  EXPECT_EQ(admitted.load(), 2000U);
  const auto left = [&](std::size_t limit) {
    const Limits alone = Limits::make({limits[limit]}).value();
    return store.store.check("k", alone, Cost{0}).remaining();
  };
  EXPECT_EQ(left(0), 1000U);
  EXPECT_EQ(left(1), 1000U);
  EXPECT_EQ(left(2), 0U);
}

TEST(ShardedTableConcurrencyOfBlocks, NothingIsAdmittedOnceBlockHasReturned) {
  ManualStore store;
  const Quota quota = per_day(1'000'000);
  std::atomic<bool> blocked{false};
  std::atomic<int> admitted_after{0};
  run_concurrently([&](int thread) {
    for (int i = 0; i < 10'000; ++i) {
      if (thread == 0 && i == 2000) {
        store.store.block("k", hours{1});
        blocked = true;
      }
      const bool was_blocked = blocked;
      const bool allowed = store.check("k", quota).allowed();
      if (was_blocked && allowed) ++admitted_after;
    }
  });
  EXPECT_EQ(admitted_after.load(), 0);
}

TEST(ShardedTableConcurrencyOfKeys, TheBoundHoldsWhileKeysComeAndGo) {
  constexpr std::uint64_t kMaxKeys = 2000;
  ManualStore store({.max_keys = kMaxKeys, .max_log_bytes = 20'000, .max_counters = 50});
  std::atomic<std::uint64_t> most_seen{0};
  run_concurrently([&](int thread) {
    std::mt19937_64 random(static_cast<unsigned>(thread));
    const std::vector<Quota> quotas{per_minute(5), per_minute(5).sliding_log(),
                                    per_second(5).fixed_window(), per_minute(5).sub_windows(),
                                    per_second(9).sliding_counter()};
    const Limits limits =
        Limits::make({{"a", per_second(3)}, {"b", per_minute(9).sliding_log()}}).value();
    for (int i = 0; i < 8000; ++i) {
      const std::string key = std::to_string(random() % 6000);
      const Quota& quota = quotas[random() % quotas.size()];
      switch (random() % 16) {
        case 0: store.store.sweep(100); break;
        case 1: store.store.refund(key, quota, Cost{1}); break;
        case 2: store.store.reset(key); break;
        case 3: store.store.block(key, milliseconds{50}); break;
        case 4: store.store.unblock(key); break;
        case 5: store.clock.advance(milliseconds{1}); break;
        case 6: {
          const std::uint64_t keys = store.store.stats().keys;
          std::uint64_t seen = most_seen.load();
          while (keys > seen && !most_seen.compare_exchange_weak(seen, keys)) {
          }
          break;
        }
        case 7: static_cast<void>(store.store.check(key, limits, Cost{})); break;
        case 8: static_cast<void>(store.store.counters().add(key, 1, milliseconds{20})); break;
        default: store.take(key, quota); break;
      }
    }
  });
  // shards are read one after the other, so a key may be counted where it was and where it went
  EXPECT_LE(most_seen.load(), kMaxKeys + kMaxKeys / 10);
  EXPECT_LE(store.store.stats().keys, kMaxKeys);
}

TEST(ShardedTableConcurrencyOfKeys, NoMoreThanAllowedAreEverThere) {
  for (const std::uint64_t most : {1U, 64U, 500U, 5000U}) {
    ManualStore store({.max_keys = most});
    run_concurrently([&](int thread) {
      for (int i = 0; i < 2000; ++i)
        store.take(std::to_string(thread) + "/" + std::to_string(i), per_day(10));
    });
    EXPECT_EQ(store.store.stats().keys, most);
  }
}

TEST(ShardedTableConcurrencyOfKeys, NothingIsLostWhileTablesGrow) {
  ManualStore store;
  const Quota quota = per_day(10);
  constexpr int kEach = 4000;
  run_concurrently([&](int thread) {
    for (int i = 0; i < kEach; ++i) {
      store.take(std::to_string(thread) + "/" + std::to_string(i), quota, 3);
      store.take(std::to_string(thread) + "/" + std::to_string(i / 2), quota, 1);
    }
  });
  EXPECT_EQ(store.store.stats().keys, static_cast<std::uint64_t>(kThreads * kEach));
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = 0; i < kEach; ++i) {
      const std::uint32_t expected = i < kEach / 2 ? 5U : 7U;
      ASSERT_EQ(store.remaining(std::to_string(thread) + "/" + std::to_string(i), quota), expected)
          << thread << "/" << i;
    }
  }
}

}  // namespace
}  // namespace penstock::store
