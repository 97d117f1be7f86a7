#include "apps/penstock/pictures/algorithm_run.hpp"

#include "penstock/clock.hpp"
#include "penstock/limiter.hpp"

namespace penstock::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kSample = milliseconds{50};
constexpr Instant kStart{Days{20'000}};  // a multiple of the period
constexpr Duration kBurstInterval = milliseconds{200};

void append(std::vector<Duration>& arrivals, Duration from, Duration until, Duration interval) {
  for (Duration at = from; at < until; at += interval) arrivals.push_back(at);
}

// Aligned windows, or those that begin with a request.
std::vector<AlgorithmRun::Window> windows_of(const Quota& quota, const AlgorithmRun& run,
                                             Duration end) {
  std::vector<AlgorithmRun::Window> windows;
  if (quota.algorithm() == Algorithm::FixedWindow ||
      quota.algorithm() == Algorithm::SlidingCounter) {
    for (Duration at{0}; at < end; at += quota.period()) {
      windows.push_back({.begin = at, .end = at + quota.period()});
    }
  }
  if (quota.algorithm() != Algorithm::AnchoredWindow) return windows;
  for (const DemoRequest& request : run.requests) {
    const bool opens = windows.empty() || request.at >= windows.back().end;
    if (opens) windows.push_back({.begin = request.at, .end = request.at + quota.period()});
  }
  return windows;
}

}  // namespace

Quota pictured_quota(Algorithm algorithm) {
  return Quota::make(per(10, seconds{10}).with(algorithm)).value();
}

std::vector<Duration> burst_arrivals() {
  std::vector<Duration> arrivals;
  append(arrivals, seconds{2}, seconds{5}, kBurstInterval);
  append(arrivals, seconds{5} + milliseconds{500}, kRunEnd, seconds{1});
  return arrivals;
}

std::vector<Duration> boundary_arrivals() {
  std::vector<Duration> arrivals;
  append(arrivals, seconds{8}, seconds{12}, kBurstInterval);
  append(arrivals, seconds{12} + milliseconds{500}, kRunEnd, seconds{1});
  return arrivals;
}

AlgorithmRun run_algorithm(const Quota& quota, std::span<const Duration> arrivals, Duration end) {
  ManualClock clock(kStart);
  Limiter limiter(MemoryOptions{.clock = &clock});
  AlgorithmRun run;
  std::vector<Duration> admitted;
  auto next = arrivals.begin();
  for (Duration at{0}; at < end; at += kSample) {
    clock.set(kStart + at);
    run.levels.push_back({.at = at, .remaining = limiter.peek("key", quota).remaining()});
    for (; next != arrivals.end() && *next < at + kSample; ++next) {
      clock.set(kStart + *next);
      const Decision decision = limiter.check("key", quota);
      run.requests.push_back({.at = *next, .outcome = decision.outcome()});
      run.levels.push_back({.at = *next, .remaining = decision.remaining()});
      if (decision.allowed()) admitted.push_back(*next);
    }
  }
  run.admitted = admitted.size();
  run.peak = busiest_period(admitted, quota.period());
  run.windows = windows_of(quota, run, end);
  return run;
}

}  // namespace penstock::app
