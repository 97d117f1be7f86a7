#include "base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace penstock::base {
namespace {

TEST(SpinLock, CanBeTakenAgainAndAgain) {
  SpinLock lock;
  for (int i = 0; i < 3; ++i) {
    const SpinGuard guard(lock);
  }
  lock.lock();
  lock.unlock();
}

// More threads than cores, so that holders are suspended while they hold it.
TEST(SpinLock, LetsOneThreadInAtATime) {
  struct Guarded {
    SpinLock lock;
    std::array<long, 4> counts PENSTOCK_GUARDED_BY(lock){};
  } guarded;
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          const SpinGuard guard(guarded.lock);
          for (long& count : guarded.counts) ++count;
        }
      });
    }
  }
  const SpinGuard guard(guarded.lock);
  for (const long count : guarded.counts) EXPECT_EQ(count, long{kThreads} * kRounds);
}

TEST(SpinLock, ShowsWhatTheLastHolderWrote) {
  SpinLock lock;
  int turn = 0;
  std::vector<int> written;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (bool done = false; !done;) {
        const SpinGuard guard(lock);
        if (turn != thread) continue;
        written.push_back(thread);
        ++turn;
        done = true;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(written, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace penstock::base
