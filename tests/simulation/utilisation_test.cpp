#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

// The cost of leases in admissions without faults: no mode admits noticeably less than a limiter
// that decides every request at once.
namespace penstock::simulation {
namespace {

using core::Mode;

constexpr std::array kLeasable{Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow,
                               Algorithm::AnchoredWindow, Algorithm::SubWindows};
constexpr std::array kNodes{1, 2, 4, 16};

std::string_view to_string(Demand demand) {
  switch (demand) {
    case Demand::Steady: return "steady";
    case Demand::Bursty: return "bursty";
    case Demand::Idle: return "idle";
  }
  return "";
}

// Minimum share of the possible admissions: docs/explanation/guarantees.md.
double least_of(Mode mode) {
  return mode == Mode::LeaseStrict || mode == Mode::Exact ? 0.99 : 0.97;
}

// Units that refill while a holder pauses before retrying an exhausted limit. Under steady demand
// they are admitted later; at the end of a run no request is left to take them.
std::uint64_t delayed(const Scenario& scenario, Demand demand) {
  if (!scenario.quota.is_bucket() || demand != Demand::Steady) return 0;
  const Duration pause = lease::LeaseSize::kMaxPause;
  return static_cast<std::uint64_t>(scenario.quota.limit()) *
         static_cast<std::uint64_t>(pause.count()) /
         static_cast<std::uint64_t>(scenario.quota.period().count());
}

using ModeAndDemand = std::tuple<Mode, Demand>;

std::string name_of_demand(const testing::TestParamInfo<ModeAndDemand>& parameter) {
  const auto& [mode, demand] = parameter.param;
  return std::string(core::to_string(mode)) + "_" + std::string(to_string(demand));
}

class Utilisation : public testing::TestWithParam<ModeAndDemand> {};

TEST_P(Utilisation, IsCloseToALimiterWithoutDelay) {
  const auto& [mode, demand] = GetParam();
  const Seeds wanted = seeds(100);
  for (const int nodes : kNodes) {
    RunStats run_stats;
    std::uint64_t anchored_admitted = 0;
    std::uint64_t anchored_ideal = 0;
    for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
      const Algorithm algorithm = kLeasable.at(seed % kLeasable.size());
      const Scenario scenario = draw_healthy_scenario(seed, mode, algorithm, demand, nodes);
      const Outcome outcome = simulate(scenario);
      run_stats.add(scenario, outcome);
      const double part = static_cast<double>(outcome.admitted + delayed(scenario, demand)) /
                          static_cast<double>(std::max<std::uint64_t>(outcome.ideal, 1));
      // The start of an anchored window depends on when the first request reaches the store, and so
      // does everything after it: such runs are judged in total.
      if (algorithm == Algorithm::AnchoredWindow) {
        anchored_admitted += outcome.admitted;
        anchored_ideal += outcome.ideal;
        continue;
      }
      EXPECT_GE(part, least_of(mode))
          << outcome.admitted << " of " << outcome.ideal << "; " << describe(scenario);
    }
    run_stats.print(std::string(core::to_string(mode)) + " " + std::string(to_string(demand)) +
                    ", " + std::to_string(nodes));
    EXPECT_EQ(run_stats.failure_report(), "");
    EXPECT_GE(static_cast<double>(anchored_admitted),
              least_of(mode) * static_cast<double>(anchored_ideal));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, Utilisation,
    testing::Combine(testing::Values(Mode::Exact, Mode::Lease, Mode::LeaseStrict, Mode::Adaptive),
                     testing::Values(Demand::Steady, Demand::Bursty, Demand::Idle)),
    name_of_demand);

// One node requests everything, then nothing until all leases have expired.
double with_silences() {
  Scenario scenario;
  scenario.quota = per_second(400).burst(40);
  scenario.terms.mode = Mode::LeaseStrict;
  scenario.length = std::chrono::seconds{20};
  scenario.most_at_once = 60;
  scenario.idle_percent = 100;
  scenario.silence = 5 * Moment{scenario.terms.lifetime};
  scenario.latency = std::chrono::microseconds{300};
  scenario.timeout = std::chrono::milliseconds{10};
  scenario.keys_linger = std::chrono::seconds{1};
  scenario.use = lease::KeyLease::Use::Revocable;  // so that all units are leased
  RunStats run_stats;
  for (scenario.seed = 1; scenario.seed <= 20; ++scenario.seed) {
    run_stats.add(scenario, simulate(scenario));
  }
  EXPECT_EQ(run_stats.failure_report(), "");
  run_stats.print("lease_strict, silences");
  return run_stats.mean_utilisation();
}

TEST(StrictLeases, SilenceRefillsTheBucket) { EXPECT_GE(with_silences(), 0.99); }

}  // namespace
}  // namespace penstock::simulation
