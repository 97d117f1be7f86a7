#include "simulation/scenario.hpp"

#include "simulation/random.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>

namespace penstock::simulation {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::int64_t kNanosPerMilli = 1'000'000;

// The load and its relation to the limit.
struct Load {
  std::int64_t arrivals = 0;
  std::int64_t mean_cost = 1;
  std::int64_t demand_percent = 100;  // of the limit
};

// A rate near the one that the load needs, with an odd period, and a matching, tiny or large burst.
QuotaSpec draw_spec(Random& random, Algorithm algorithm, const Scenario& scenario,
                    const Load& load) {
  constexpr std::array<std::int64_t, 8> kPeriods{1, 3, 7, 10, 13, 100, 997, 1000};
  std::int64_t period = random.pick(kPeriods);
  const std::int64_t lasts = std::max<std::int64_t>(1, scenario.length.count() / kNanosPerMilli);
  const std::int64_t units = load.arrivals * load.mean_cost * 100 / load.demand_percent;
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    while (units * period / lasts < 1 && period < 100'000) period *= 3;
  } else {
    // Several windows per run, some shorter than a lease and some longer.
    period = std::clamp<std::int64_t>(lasts / random.between(3, 40), 1, 5'000);
  }
  const std::int64_t limit = std::max<std::int64_t>(1, units * period / lasts);
  QuotaSpec spec = per(limit, milliseconds{period}).with(algorithm);
  if (algorithm == Algorithm::SubWindows) {
    spec.sub_window_count = random.between(2, 12);
    const Duration divisible{std::lcm<std::int64_t>(1000, spec.sub_window_count)};
    spec.period = std::max(divisible, spec.period - spec.period % divisible);
  }
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    spec.capacity = random.percent(25) ? random.between(1, 4)
                                       : random.magnitude(2 * std::max<std::int64_t>(2, units));
  }
  return spec;
}

void draw_network(Random& random, Scenario& scenario) {
  const std::int64_t lifetime = duration_cast<Moment>(scenario.terms.lifetime).count();
  scenario.latency = Moment{1 + lifetime / random.between(3, 400)};
  scenario.timeout = scenario.latency * random.between(3, 20);
  scenario.between_faults = scenario.length / random.between(2, 12);
  scenario.lag = Moment{random.below(2 * lifetime)};
}

void draw_load(Random& random, Scenario& scenario, const Load& load) {
  scenario.mean_gap = scenario.length / load.arrivals;
  scenario.most_cost = 2 * load.mean_cost - 1;
  scenario.most_at_once = random.percent(50) ? 1 : random.magnitude(40);
  scenario.mean_gap *= scenario.most_at_once == 1 ? 1 : (scenario.most_at_once + 1) / 2;
  scenario.idle_percent = random.percent(50) ? 0 : static_cast<int>(random.between(1, 4));
  scenario.one_busy_node = random.percent(30);
}

void draw_storm(Random& random, Scenario& scenario, Algorithm algorithm) {
  scenario.most_at_once = random.between(2, 40);
  scenario.most_cost = random.percent(70) ? 1 : random.between(2, 5);
  scenario.idle_percent = static_cast<int>(random.between(20, 90));
  scenario.latency = Moment{scenario.terms.lifetime} / random.between(8, 80);
  scenario.timeout = scenario.latency * random.between(5, 20);
  scenario.mean_gap = scenario.latency * random.between(1, 5);
  scenario.length = scenario.terms.lifetime * random.between(10, 60);
  // One storm empties it, and about one lifetime fills it.
  const std::int64_t storm = scenario.most_at_once * scenario.most_cost;
  const std::int64_t burst = std::max<std::int64_t>(1, storm * random.between(20, 300) / 100);
  const std::int64_t refilled = std::max<std::int64_t>(1, burst * random.between(10, 300) / 100);
  const Duration lifetime = scenario.terms.lifetime;
  QuotaSpec spec = per(refilled, lifetime * random.between(1, 3)).with(algorithm);
  if (algorithm == Algorithm::SubWindows) {
    spec.sub_window_count = random.pick(std::array{2, 4, 5, 8});
  } else if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    spec.capacity = burst;
  }
  scenario.quota = Quota::make(spec).value();
}

}  // namespace

Scenario draw_scenario(std::uint64_t seed, core::Mode mode, Algorithm algorithm,
                       const Faults& faults) {
  constexpr std::array<std::int64_t, 5> kLifetimes{3, 10, 30, 100, 1000};
  constexpr std::array<std::int64_t, 6> kDemands{30, 90, 110, 200, 500, 2000};
  Random random(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.faults = faults;
  scenario.terms = {.mode = mode, .lifetime = milliseconds{random.pick(kLifetimes)}};
  scenario.nodes =
      static_cast<int>(random.percent(30) ? random.between(1, 2) : random.between(2, 6));
  scenario.length = scenario.terms.lifetime * random.between(4, 30);
  const Load load{.arrivals = random.between(100, 1500),
                  .mean_cost = random.percent(50) ? 1 : random.between(2, 6),
                  .demand_percent = random.pick(kDemands)};
  scenario.quota = Quota::make(draw_spec(random, algorithm, scenario, load)).value();
  draw_load(random, scenario, load);
  draw_network(random, scenario);
  if (seed % 3 == 0) draw_storm(random, scenario, algorithm);
  // The promises do not depend on how leases are sized.
  if (seed % 4 >= 2) scenario.use = lease::KeyLease::Use::Revocable;
  if (seed % 2 == 0) {
    scenario.waste = {.returned = 1,
                      .strict = 1,
                      .plain = 1,
                      .allowance = static_cast<std::uint64_t>(random.magnitude(10'000))};
  }
  if (random.percent(50)) scenario.keys_linger = scenario.terms.lifetime * random.between(1, 20);
  return scenario;
}

namespace {

struct Rate {
  std::int64_t limit;
  Duration period;
};

Rate draw_rate(Random& random) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  constexpr std::array kRates{Rate{10, hours{24}},       Rate{300, hours{24}},
                              Rate{1'000, hours{1}},     Rate{100, minutes{1}},
                              Rate{10, seconds{1}},      Rate{100, seconds{1}},
                              Rate{1'000, seconds{1}},   Rate{10'000, seconds{1}},
                              Rate{100'000, seconds{1}}, Rate{1'000'000, seconds{1}}};
  Rate rate = random.pick(kRates);
  rate.limit = rate.limit * random.between(60, 100) / 100;
  return rate;
}

void draw_arrivals(Random& random, Scenario& scenario, Demand demand) {
  if (demand == Demand::Steady) return;
  scenario.most_at_once = random.between(2, 60);
  scenario.mean_gap *= (scenario.most_at_once + 1) / 2;
  scenario.one_busy_node = random.percent(30);
  if (demand == Demand::Bursty) return;
  scenario.idle_percent = static_cast<int>(random.between(20, 100));
  if (random.percent(50)) {
    scenario.silence = Moment{scenario.terms.lifetime} * random.between(30, 2'000) / 100;
  }
}

}  // namespace

Scenario draw_healthy_scenario(std::uint64_t seed, core::Mode mode, Algorithm algorithm,
                               Demand demand, int nodes) {
  constexpr std::array<std::int64_t, 5> kDemands{50, 90, 120, 200, 500};
  constexpr std::array<std::int64_t, 3> kLifetimes{30, 100, 1'000};
  Random random(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.terms = {.mode = mode, .lifetime = milliseconds{random.pick(kLifetimes)}};
  scenario.nodes = nodes;
  const Rate rate = draw_rate(random);
  QuotaSpec spec = per(rate.limit, rate.period).with(algorithm);
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    if (random.percent(50)) {
      spec.capacity = std::max<std::int64_t>(1, rate.limit * random.between(1, 100) / 100);
    }
  } else {
    // Several windows per run.
    spec.limit = std::min<std::int64_t>(spec.limit, 2'000);
    if (algorithm == Algorithm::SubWindows)
      spec.sub_window_count = random.pick(std::array{2, 4, 5, 10});
  }
  scenario.quota = Quota::make(spec).value();
  const std::int64_t arrivals = random.between(2'000, 20'000);
  const std::int64_t per_arrival =
      Moment{rate.period}.count() / spec.limit * 100 / random.pick(kDemands);
  scenario.mean_gap = Moment{std::max<std::int64_t>(1, per_arrival)};
  scenario.length = scenario.mean_gap * arrivals;
  scenario.latency = std::chrono::microseconds{random.between(50, 1'000)};
  scenario.timeout = std::chrono::milliseconds{200};
  draw_arrivals(random, scenario, demand);
  return scenario;
}

std::string describe(const Scenario& scenario) {
  std::ostringstream out;
  out << "seed " << scenario.seed << ": " << core::to_string(scenario.terms.mode) << ", "
      << to_string(scenario.quota) << ", leases of " << scenario.terms.lifetime.count() << " us, "
      << scenario.nodes << " nodes, " << scenario.length.count() / 1000 << " us with a request in "
      << scenario.mean_gap.count() / 1000 << " us, costs up to " << scenario.most_cost << ", up to "
      << scenario.most_at_once << " at once, latency " << scenario.latency.count() / 1000 << " us";
  return out.str();
}

}  // namespace penstock::simulation
