#include "base/monotonic_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace penstock::base {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kOff = microseconds{5};

// How far a reading lies outside two readings of the real clock around it. A correct reading lies
// within them, however long the thread is suspended.
nanoseconds error_of_one_reading() {
  const SteadyClock::time_point before = SteadyClock::now();
  const SteadyClock::time_point reading = monotonic_now();
  const SteadyClock::time_point after = SteadyClock::now();
  return std::max({nanoseconds{0}, nanoseconds{before - reading}, nanoseconds{reading - after}});
}

// The minimum of a few runs: a machine that suspends the process or sets its clock spoils single
// runs; a bug spoils all of them.
template <class Run>
nanoseconds best_of(nanoseconds tolerance, Run run) {
  nanoseconds best = run();
  for (int again = 0; again < 4 && best > tolerance; ++again) best = std::min(best, run());
  return best;
}

void wait_busily(nanoseconds length) {
  const SteadyClock::time_point end = SteadyClock::now() + length;
  while (SteadyClock::now() < end) {
  }
}

TEST(MonotonicTime, StaysWithTheSteadyClockOverManyReadings) {
  const auto run = [] {
    nanoseconds worst{0};
    for (int i = 0; i < 500'000; ++i) worst = std::max(worst, error_of_one_reading());
    return worst;
  };
  EXPECT_LE(best_of(kOff, run), kOff);
}

TEST(MonotonicTime, IsRightAtOnceAfterAPause) {
  for (int pause = 0; pause < 50; ++pause) {
    const auto run = [pause] {
      wait_busily(milliseconds{1} + microseconds{137 * (pause % 20)});
      return error_of_one_reading();
    };
    EXPECT_LE(best_of(kOff, run), kOff);
  }
}

TEST(MonotonicTime, IsRightFromTheFirstReadingOfAThread) {
  const auto run = [] {
    nanoseconds worst{0};
    std::jthread([&] {
      for (int i = 0; i < 3000; ++i) worst = std::max(worst, error_of_one_reading());
    }).join();
    return worst;
  };
  for (int thread = 0; thread < 50; ++thread) EXPECT_LE(best_of(kOff, run), kOff);
}

TEST(MonotonicTime, HardlyEverStepsBackWithinAThread) {
  const auto run = [] {
    SteadyClock::time_point latest = monotonic_now();
    nanoseconds worst{0};
    for (int i = 0; i < 1'000'000; ++i) {
      const SteadyClock::time_point reading = monotonic_now();
      worst = std::max(worst, nanoseconds{latest - reading});
      latest = std::max(latest, reading);
    }
    return worst;
  };
  EXPECT_LE(best_of(microseconds{1}, run), microseconds{1});
}

// How far a thread was behind what another had read before.
nanoseconds worst_between_threads() {
  std::atomic<SteadyClock::time_point> latest{monotonic_now()};
  std::vector<nanoseconds> worst(4);
  std::vector<std::jthread> threads;
  for (nanoseconds& mine : worst) {
    threads.emplace_back([&mine, &latest] {
      for (int i = 0; i < 50'000; ++i) {
        SteadyClock::time_point seen = latest.load();
        const SteadyClock::time_point reading = monotonic_now();
        mine = std::max(mine, nanoseconds{seen - reading});
        while (reading > seen && !latest.compare_exchange_weak(seen, reading)) {
        }
      }
    });
  }
  threads.clear();
  return *std::max_element(worst.begin(), worst.end());
}

TEST(MonotonicTime, IsTheSameForAllThreads) {
  EXPECT_LE(best_of(kOff, worst_between_threads), kOff);
}

}  // namespace
}  // namespace penstock::base
