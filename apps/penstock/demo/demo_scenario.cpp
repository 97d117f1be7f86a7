#include "apps/penstock/demo/demo_scenario.hpp"

#include "penstock/clock.hpp"
#include "penstock/limiter.hpp"

#include <array>
#include <cstddef>

namespace penstock::app {
namespace {

// Windows, from the simplest to the most exact, then the buckets.
constexpr std::array kShownAlgorithms{
    Algorithm::FixedWindow, Algorithm::AnchoredWindow, Algorithm::SlidingCounter,
    Algorithm::SlidingLog,  Algorithm::SubWindows,     Algorithm::TokenBucket,
    Algorithm::Gcra,
};

// A boundary of aligned windows, long after the epoch.
Instant some_boundary(Duration period) {
  return Instant{period * (Duration{Days{20'000}} / period)};
}

QuotaSpec spec_for(Algorithm algorithm, const QuotaSpec& spec) {
  QuotaSpec own = spec.with(algorithm);
  if (algorithm != Algorithm::TokenBucket && algorithm != Algorithm::Gcra) own.capacity.reset();
  return own;
}

DemoRow run(const Quota& quota, std::span<const Duration> arrivals) {
  const Instant boundary = some_boundary(quota.period());
  ManualClock clock(boundary - quota.period());
  Limiter limiter(MemoryOptions{.clock = &clock});
  DemoRow row{.quota = quota, .requests = {}, .passed = 0, .peak = {}};
  std::vector<Duration> passed;
  for (const Duration at : arrivals) {
    clock.set(boundary + at);
    const Decision decision = limiter.check("demo", quota);
    row.requests.push_back({.at = at, .outcome = decision.outcome()});
    if (decision.allowed()) passed.push_back(at);
  }
  row.passed = passed.size();
  row.peak = busiest_period(passed, quota.period());
  return row;
}

}  // namespace

Peak busiest_period(std::span<const Duration> instants, Duration period) {
  Peak peak;
  std::size_t end = 0;
  // a busiest period can always be moved to begin at one of the instants
  for (std::size_t begin = 0; begin < instants.size(); ++begin) {
    while (end < instants.size() && instants[end] - instants[begin] < period) ++end;
    if (end - begin > peak.passed) peak = {.from = instants[begin], .passed = end - begin};
  }
  return peak;
}

std::vector<Duration> demo_arrivals(std::int64_t limit, Duration period) {
  const Duration burst = period * kBurstColumns / kColumnsPerPeriod;
  const Duration end = period * (kLastColumn + 1) / kColumnsPerPeriod;
  std::vector<Duration> arrivals;
  for (std::int64_t i = 0; i < 2 * limit; ++i) arrivals.push_back(burst * i / limit - burst);
  for (std::int64_t i = 0; burst + period * i / limit < end; ++i) {
    arrivals.push_back(burst + period * i / limit);
  }
  return arrivals;
}

Result<std::vector<DemoRow>> run_demo(const QuotaSpec& spec) {
  std::vector<Quota> quotas;
  for (const Algorithm algorithm : kShownAlgorithms) {
    const Result<Quota> quota = Quota::make(spec_for(algorithm, spec));
    if (!quota) return quota.error();
    quotas.push_back(*quota);
  }
  const std::vector<Duration> arrivals = demo_arrivals(spec.limit, spec.period);
  std::vector<DemoRow> rows;
  rows.reserve(quotas.size());
  for (const Quota& quota : quotas) rows.push_back(run(quota, arrivals));
  return rows;
}

}  // namespace penstock::app
