#pragma once

#include "bench/key_distribution.hpp"
#include "bench/measure.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

// The load of all store benchmarks: keys in rounds, on several threads.
namespace penstock::bench {

// Contenders alternate, so that all see the same noise of the machine.
inline constexpr unsigned kRounds = 5;

struct Load {
  std::uint32_t keys = 2000;
  KeyDistribution distribution;
  std::uint64_t checks = 10'000'000;  // sum of all rounds and threads
  unsigned threads = 1;
  std::uint64_t seed = 1;
};

// The keys of every thread in this round.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> draw_round(const Load& load, unsigned round);

// Threads that could not be started count as arrived, so that the others do not wait for them.
class Starters {
 public:
  Starters(std::barrier<>& start, std::size_t threads) : start_(start), missing_(threads) {}
  ~Starters() {
    for (; missing_ > 0; --missing_) start_.arrive_and_drop();
  }
  Starters(const Starters&) = delete;
  Starters& operator=(const Starters&) = delete;

  void count_started() { --missing_; }

 private:
  std::barrier<>& start_;
  std::size_t missing_;
};

// Calls work(0), work(1) … each on its own thread, started at the same time. Returns the wall
// time of the slowest.
template <class Work>
std::chrono::nanoseconds run_together(std::size_t count, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::barrier start(static_cast<std::ptrdiff_t>(count));
  std::vector<std::chrono::nanoseconds> walls(count);
  std::vector<std::jthread> threads;
  Starters starters(start, count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      const Clock::time_point wall_start = Clock::now();
      work(i);
      walls[i] = Clock::now() - wall_start;
    });
    starters.count_started();
  }
  threads.clear();
  return *std::max_element(walls.begin(), walls.end());
}

}  // namespace penstock::bench
