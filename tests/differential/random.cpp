#include "differential/random.hpp"

#include "reference/quotas.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>

namespace penstock::differential {
namespace {

using std::chrono::milliseconds;

struct Wish {
  std::int64_t limit = 1;
  std::int64_t period_ms = 1;
  std::int64_t burst = 1;
};

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Wish draw_wish(Random& random) {
  // 999999937 and 999983 are prime: their rates cannot be reduced.
  constexpr std::array<std::int64_t, 8> kLimits{1, 10, 100, 600, 5'000, 70'000, 600'000, 1'000'000};
  constexpr std::array<std::int64_t, 6> kPeriods{1'000,   10'000,    60'000,
                                                 300'000, 3'600'000, 86'400'000};
  constexpr std::array<std::int64_t, 6> kBursts{1, 5, 20, 100, 1'000, 1'000'000};
  constexpr std::int64_t kMaxMillis = Quota::kMaxPeriod / milliseconds{1};
  constexpr std::array<std::int64_t, 6> kOddLimits{1, 3, 7, 999'983, 999'999'937, 1'000'000'000};
  constexpr std::array<std::int64_t, 6> kOddPeriods{
      1, 7, 999'983, 86'399'999, kMaxMillis - 1, kMaxMillis};
  constexpr std::array<std::int64_t, 4> kOddBursts{1, 2, 999'999'937, 1'000'000'000};
  switch (random.below(4)) {
    case 0:
    case 1:
      return {.limit = number(1 + random.below(12)),
              .period_ms = number(1 + random.below(6)),
              .burst = number(1 + random.below(10))};
    case 2:
      return {.limit = random.pick(kLimits),
              .period_ms = random.pick(kPeriods),
              .burst = random.pick(kBursts)};
    default: break;
  }
  Wish wish{.limit = number(random.magnitude(Quota::kMaxLimit)),
            .period_ms = number(random.magnitude(kMaxMillis)),
            .burst = number(random.magnitude(Quota::kMaxLimit))};
  if (random.percent(50)) wish.limit = random.pick(kOddLimits);
  if (random.percent(50)) wish.period_ms = random.pick(kOddPeriods);
  if (random.percent(50)) wish.burst = random.pick(kOddBursts);
  return wish;
}

// The valid quota nearest to the wish.
Quota granted(Random& random, Algorithm algorithm, const Wish& wish) {
  QuotaSpec spec = per(wish.limit, milliseconds{wish.period_ms}).with(algorithm);
  if (algorithm == Algorithm::SlidingLog) spec.limit = std::min(spec.limit, Quota::kMaxLogLimit);
  if (algorithm == Algorithm::SubWindows) {
    spec.sub_window_count =
        Quota::kMinSubWindows +
        number(random.below(random.percent(70) ? 6 : Quota::kMaxSubWindows - 1));
    const Duration divisible{std::lcm<std::int64_t>(1000, spec.sub_window_count)};
    spec.period = std::max(divisible, spec.period - spec.period % divisible);
  }
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    spec.capacity = wish.burst;
    while (Quota::find_defect(spec) == QuotaDefect::RefillTooSlow) *spec.capacity /= 2;
  }
  return Quota::make(spec).value();
}

// The same quota with other amounts.
Quota with_other_amounts(Random& random, const Quota& quota) {
  const Wish wish = draw_wish(random);
  QuotaSpec spec = per(wish.limit, quota.period()).with(quota.algorithm());
  if (random.percent(50)) spec.limit = number(1 + random.below(2 * std::uint64_t{quota.limit()}));
  spec.limit = std::min(spec.limit, Quota::kMaxLimit);
  if (quota.algorithm() == Algorithm::SlidingLog) {
    spec.limit = std::min(spec.limit, Quota::kMaxLogLimit);
  }
  if (quota.algorithm() == Algorithm::SubWindows) spec.sub_window_count = quota.sub_window_count();
  if (quota.is_bucket()) {
    spec.capacity = random.percent(50) ? wish.burst : quota.capacity();
    while (Quota::find_defect(spec) == QuotaDefect::RefillTooSlow) *spec.capacity /= 2;
  }
  return Quota::make(spec).value();
}

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t chosen = [] {
    const char* wanted = std::getenv("PENSTOCK_SEED");
    const std::uint64_t number = wanted == nullptr ? std::random_device{}() : std::stoull(wanted);
    std::cout << "PENSTOCK_SEED=" << number << std::endl;
    return number;
  }();
  return chosen;
}

std::size_t scaled(std::size_t usual) {
  const char* factor = std::getenv("PENSTOCK_STEPS");
  return usual * (factor == nullptr ? 1 : std::max<std::size_t>(1, std::stoull(factor)));
}

std::uint64_t Random::magnitude(std::uint64_t most) {
  const std::uint64_t bound = std::max<std::uint64_t>(1, most >> below(40));
  return 1 + below(bound);
}

Quota draw_quota(Random& random, Algorithm algorithm) {
  return granted(random, algorithm, draw_wish(random));
}

std::vector<Quota> draw_related(Random& random, Algorithm algorithm) {
  std::vector<Quota> quotas{draw_quota(random, algorithm)};
  quotas.push_back(with_other_amounts(random, quotas.front()));
  quotas.push_back(draw_quota(random, algorithm));
  for (int i = 0; i < 3; ++i) {
    const Algorithm other = random.pick(reference::kAlgorithms);
    Wish wish = draw_wish(random);
    if (random.percent(50)) wish.period_ms = quotas.front().period() / milliseconds{1};
    if (random.percent(50)) wish.limit = quotas.front().limit();
    quotas.push_back(granted(random, other, wish));
  }
  return quotas;
}

}  // namespace penstock::differential
