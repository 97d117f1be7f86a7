#include "bench/exactness.hpp"

#include "bench/admissions.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace penstock::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 16;

Quota quota_of(Algorithm algorithm, std::int64_t limit, Duration period) {
  // the numbers below suit every algorithm
  return Quota::make({.limit = limit, .period = period, .capacity = {}, .algorithm = algorithm})
      .value();
}

void add_to(std::vector<std::uint64_t>& sums, const std::vector<std::uint64_t>& others) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
}

// As most_admitted(), and less where it helps to know when it was and that the key was fresh: a
// window that begins before the span holds nothing.
std::uint64_t most_of_fresh_key(const Quota& quota, TimeSpan span) {
  const Duration length = span.end - span.begin;
  switch (quota.algorithm()) {
    case Algorithm::FixedWindow:
    case Algorithm::SlidingCounter: {
      const auto first = span.begin.time_since_epoch() / quota.period();
      const auto last = span.end.time_since_epoch() / quota.period();
      return static_cast<std::uint64_t>(last - first + 1) * quota.limit();
    }
    case Algorithm::AnchoredWindow:
      return static_cast<std::uint64_t>(length / quota.period() + 1) * quota.limit();
    case Algorithm::TokenBucket:
    case Algorithm::Gcra:
    case Algorithm::SlidingLog:
    case Algorithm::SubWindows: break;
  }
  return most_admitted(quota, length);
}

// One thread's work.
class Hammer {
 public:
  Hammer(SharedLimiter& limiter, const std::vector<ExactnessCase>& cases, std::uint64_t seed)
      : limiter_(limiter), cases_(cases), random_(seed) {
    for (const ExactnessCase& each : cases) counts_.emplace_back(each.keys);
  }

  void run(SteadyClock::time_point until) {
    for (std::size_t turn = 0; SteadyClock::now() < until; ++turn) {
      ask(turn % cases_.size());
    }
  }
  [[nodiscard]] const std::vector<KeyCounts>& counts() const { return counts_; }

 private:
  void ask(std::size_t which) {
    const ExactnessCase& asked = cases_[which];
    std::vector<std::uint32_t> numbers(kBatch);
    std::vector<std::string> keys(kBatch);
    std::vector<Check> checks;
    for (std::size_t i = 0; i < kBatch; ++i) {
      numbers[i] = static_cast<std::uint32_t>(random_() % asked.keys);
      keys[i] = std::to_string(which) + ":" + std::to_string(numbers[i]);
      checks.push_back({.key = keys[i], .quota = asked.quota});
    }
    std::vector<Result<Decision>> decisions(kBatch, Decision{});
    limiter_.check_each(checks, decisions);
    KeyCounts& counts = counts_[which];
    for (std::size_t i = 0; i < kBatch; ++i) {
      ++counts.asked[numbers[i]];
      if (!decisions[i]) {
        ++counts.failed[numbers[i]];
      } else if (decisions[i]->allowed()) {
        ++counts.admitted[numbers[i]];
      }
    }
  }

  SharedLimiter& limiter_;
  const std::vector<ExactnessCase>& cases_;
  std::mt19937_64 random_;
  std::vector<KeyCounts> counts_;
};

}  // namespace

std::vector<ExactnessCase> exactness_cases(Algorithm algorithm) {
  constexpr std::uint32_t kManyKeys = 1000;
  const Duration second = std::chrono::seconds{1};
  return {{"one key, 1000 a day", quota_of(algorithm, 1000, Days{1}), 1},
          {"1000 keys, 20 a day", quota_of(algorithm, 20, Days{1}), kManyKeys},
          {"one key, 200 a second", quota_of(algorithm, 200, second), 1},
          {"1000 keys, 5 a second", quota_of(algorithm, 5, second), kManyKeys}};
}

void KeyCounts::add(const KeyCounts& others) {
  add_to(asked, others.asked);
  add_to(admitted, others.admitted);
  add_to(failed, others.failed);
}

ExactnessVerdict judge(const ExactnessCase& which, const KeyCounts& counts, TimeSpan span,
                       Promise promise) {
  const std::uint64_t most = most_of_fresh_key(which.quota, span) + promise.beyond;
  ExactnessVerdict verdict;
  verdict.most = most * which.keys;
  for (std::size_t i = 0; i < counts.asked.size(); ++i) {
    const std::uint64_t admitted = counts.admitted[i];
    verdict.asked += counts.asked[i];
    verdict.admitted += admitted;
    verdict.failed += counts.failed[i];
    verdict.over_admitted += admitted > most ? admitted - most : 0;
    if (!promise.all_that_fits) continue;
    // a fresh key has room for its whole capacity; a failed question may have taken some of it
    const std::uint64_t answered = counts.asked[i] - counts.failed[i];
    const std::uint64_t fits = std::min<std::uint64_t>(answered, which.quota.capacity());
    const std::uint64_t accounted = admitted + counts.failed[i];
    verdict.under_admitted += fits > accounted ? fits - accounted : 0;
  }
  return verdict;
}

std::vector<KeyCounts> hammer(SharedLimiter& limiter, const std::vector<ExactnessCase>& cases,
                              unsigned threads, Duration time, std::uint64_t seed) {
  std::vector<Hammer> hammers;
  hammers.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) hammers.emplace_back(limiter, cases, seed + i);
  const SteadyClock::time_point until = SteadyClock::now() + time;
  {
    std::vector<std::jthread> running;
    running.reserve(hammers.size());
    for (Hammer& each : hammers) running.emplace_back([&each, until] { each.run(until); });
  }
  std::vector<KeyCounts> sums;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    sums.emplace_back(cases[i].keys);
    for (const Hammer& each : hammers) sums[i].add(each.counts()[i]);
  }
  return sums;
}

}  // namespace penstock::bench
