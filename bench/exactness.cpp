#include "bench/exactness.hpp"

#include "bench/admissions.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace penstock::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kBatch = 16;

Quota quota_of(Algorithm algorithm, std::int64_t limit, Duration period) {
  // the numbers below suit every algorithm
  return Quota::make({.limit = limit, .period = period, .capacity = {}, .algorithm = algorithm})
      .value();
}

void add_to(std::vector<std::uint64_t>& sums, const std::vector<std::uint64_t>& others) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
}

// Like max_admitted_in(), but lower with a known start and an unused key: a window that begins
// before the span is empty.
std::uint64_t max_of_fresh_key(const Quota& quota, TimeSpan span) {
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
  return max_admitted_in(quota, length);
}

// The refill within this time, over all keys.
std::uint64_t refill_of(const ExactnessCase& which, Duration time) {
  const auto period = static_cast<std::uint64_t>(which.quota.period().count());
  const Wide units = static_cast<Wide>(which.quota.limit()) * which.keys *
                     static_cast<std::uint64_t>(time.count());
  return static_cast<std::uint64_t>((units + period - 1) / period);
}

// The minimum that an exact limiter admits if times are uncertain by `blur`: windows begin earlier
// or later, and the run ends earlier.
std::uint64_t min_expected(const ExactnessCase& which, const KeyCounts& counts, TimeSpan span,
                           Duration blur) {
  std::int64_t last = 0;
  for (const DemandLog::Entry& entry : counts.demand) last = std::max(last, entry.step);
  std::vector<DemandLog::Entry> shorter = counts.demand;
  std::erase_if(shorter, [&](const DemandLog::Entry& entry) {
    return (last - entry.step) * Duration{DemandLog::kStep} < blur;
  });
  std::uint64_t minimum = ~std::uint64_t{0};
  for (const Duration shift : {Duration{0}, blur, -blur}) {
    minimum = std::min(minimum, admitted_exactly(which.quota, shorter, span.steady_zero + shift));
  }
  return minimum;
}

// One thread's work.
class LoadThread {
 public:
  LoadThread(SharedLimiter& limiter, const std::vector<ExactnessCase>& cases, std::uint64_t seed)
      : limiter_(limiter), cases_(cases), random_(seed) {
    for (const ExactnessCase& each : cases) {
      counts_.emplace_back(each.keys);
      logs_.emplace_back(each.keys);
    }
  }

  void run(Demand demand, SteadyClock::time_point until) {
    SteadyClock::time_point last_turn{};
    for (std::size_t turn = 0; SteadyClock::now() < until;) {
      const SteadyClock::time_point now = SteadyClock::now();
      const auto pause = pause_before(demand, last_turn, now);
      if (pause > std::chrono::nanoseconds::zero()) {
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, until - now));
        continue;
      }
      last_turn = now;
      ask(turn++ % cases_.size());
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) counts_[i].demand = logs_[i].take();
  }
  [[nodiscard]] const std::vector<KeyCounts>& counts() const { return counts_; }

 private:
  void ask(std::size_t which) {
    const ExactnessCase& current = cases_[which];
    std::vector<std::uint32_t> numbers(kBatch);
    std::vector<std::string> keys(kBatch);
    std::vector<Check> checks;
    for (std::size_t i = 0; i < kBatch; ++i) {
      numbers[i] = static_cast<std::uint32_t>(random_() % current.keys);
      keys[i] = std::to_string(which) + ":" + std::to_string(numbers[i]);
      checks.push_back({.key = keys[i], .quota = current.quota});
    }
    std::vector<Result<Decision>> decisions(kBatch, Decision{});
    const SteadyClock::time_point since = SteadyClock::now();
    for (const std::uint32_t number : numbers) logs_[which].note(number, since);
    limiter_.check_each(checks, decisions);
    KeyCounts& counts = counts_[which];
    counts.slowest =
        std::max(counts.slowest, std::chrono::ceil<Duration>(SteadyClock::now() - since));
    for (std::size_t i = 0; i < kBatch; ++i) {
      ++counts.requests[numbers[i]];
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
  std::vector<DemandLog> logs_;
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
  add_to(requests, others.requests);
  add_to(admitted, others.admitted);
  add_to(failed, others.failed);
  demand.insert(demand.end(), others.demand.begin(), others.demand.end());
  slowest = std::max(slowest, others.slowest);
}

void KeyCounts::append(const KeyCounts& others) {
  const auto first = static_cast<std::uint32_t>(requests.size());
  requests.insert(requests.end(), others.requests.begin(), others.requests.end());
  admitted.insert(admitted.end(), others.admitted.begin(), others.admitted.end());
  failed.insert(failed.end(), others.failed.begin(), others.failed.end());
  for (DemandLog::Entry entry : others.demand) {
    entry.key += first;
    demand.push_back(entry);
  }
  slowest = std::max(slowest, others.slowest);
}

ExactnessResult evaluate(const ExactnessCase& which, const KeyCounts& counts, TimeSpan span,
                         Guarantee guarantee) {
  const std::uint64_t max_per_key = max_of_fresh_key(which.quota, span) + guarantee.beyond;
  ExactnessResult exactness;
  exactness.max_admitted = max_per_key * which.keys;
  for (std::size_t i = 0; i < counts.requests.size(); ++i) {
    const std::uint64_t admitted = counts.admitted[i];
    exactness.requests += counts.requests[i];
    exactness.admitted += admitted;
    exactness.failed += counts.failed[i];
    exactness.over_admitted += admitted > max_per_key ? admitted - max_per_key : 0;
    if (guarantee.percent_that_fits < 100) continue;
    // an unused key has its whole capacity; a failed call may have used some of it
    const std::uint64_t answered = counts.requests[i] - counts.failed[i];
    const std::uint64_t fits = std::min<std::uint64_t>(answered, which.quota.capacity());
    const std::uint64_t accounted = admitted + counts.failed[i];
    exactness.under_admitted += fits > accounted ? fits - accounted : 0;
  }
  const Duration blur = counts.slowest + span.uncertainty + DemandLog::kStep;
  exactness.expected = admitted_exactly(which.quota, counts.demand, span.steady_zero);
  const std::uint64_t missing = refill_of(which, blur);
  const std::uint64_t wanted =
      min_expected(which, counts, span, blur) * guarantee.percent_that_fits / 100;
  const std::uint64_t minimum = wanted - std::min(wanted, missing);
  const std::uint64_t accounted = exactness.admitted + exactness.failed;
  exactness.under_admitted =
      std::max(exactness.under_admitted, minimum - std::min(minimum, accounted));
  return exactness;
}

std::vector<KeyCounts> run_exactness_load(SharedLimiter& limiter,
                                          const std::vector<ExactnessCase>& cases,
                                          const ExactnessLoad& load) {
  std::vector<LoadThread> threads;
  threads.reserve(load.threads);
  for (unsigned i = 0; i < load.threads; ++i) threads.emplace_back(limiter, cases, load.seed + i);
  const SteadyClock::time_point until = SteadyClock::now() + load.time;
  {
    std::vector<std::jthread> running;
    running.reserve(threads.size());
    for (LoadThread& each : threads) {
      running.emplace_back([&each, &load, until] { each.run(load.demand, until); });
    }
  }
  std::vector<KeyCounts> sums;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    sums.emplace_back(cases[i].keys);
    for (const LoadThread& each : threads) sums[i].add(each.counts()[i]);
  }
  return sums;
}

}  // namespace penstock::bench
