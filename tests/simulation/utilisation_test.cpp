#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <string>

// What leases cost in admissions: more is asked for than the limit has, and nothing goes wrong.
namespace penstock::simulation {
namespace {

using core::Mode;

Figures busy_runs(Mode mode, Algorithm algorithm, int nodes) {
  const Seeds wanted = seeds(20);
  Figures figures;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    const Scenario scenario = draw_busy_scenario(seed, mode, algorithm, nodes);
    figures.add(scenario, simulate(scenario));
  }
  figures.print(std::string(core::to_string(mode)) + " " + std::string(to_string(algorithm)) +
                ", " + std::to_string(nodes));
  EXPECT_EQ(figures.complaint(), "");
  return figures;
}

// A few runs, as in a build that is slow on purpose, have no mean.
void expect_mean_of(const Figures& figures, double least) {
  if (figures.runs() < 10) return;
  EXPECT_GE(figures.mean_utilisation(), least);
}

// One node asks for all that there is, and then for nothing until all leases are over.
double with_silences(Defect defect) {
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
  Figures figures;
  for (scenario.seed = 1; scenario.seed <= 20; ++scenario.seed) {
    figures.add(scenario, simulate(scenario, defect));
  }
  EXPECT_EQ(figures.complaint(), "");
  figures.print("lease_strict, silences");
  return figures.mean_utilisation();
}

TEST(Utilisation, OneNodeGetsAlmostAllOfABucket) {
  for (const Mode mode : {Mode::Lease, Mode::LeaseStrict, Mode::Adaptive}) {
    for (const Algorithm algorithm : {Algorithm::TokenBucket, Algorithm::Gcra}) {
      const Figures figures = busy_runs(mode, algorithm, 1);
      expect_mean_of(figures, 0.98);
      EXPECT_GE(figures.least_utilisation(), 0.90);
    }
  }
}

TEST(Utilisation, SilenceRefillsTheBucketOfStrictLeases) {
  EXPECT_GE(with_silences(Defect::None), 0.98);
  // as much is missing as was leased before the silence: this is how a mistake in it would show
  EXPECT_LT(with_silences(Defect::SingleStepRefill), 0.90);
}

TEST(Utilisation, NodesGetMostOfWhatTheyShare) {
  for (const Mode mode : {Mode::Exact, Mode::Lease, Mode::LeaseStrict, Mode::Adaptive}) {
    for (const int nodes : {4, 16}) {
      expect_mean_of(busy_runs(mode, Algorithm::TokenBucket, nodes), 0.95);
      expect_mean_of(busy_runs(mode, Algorithm::FixedWindow, nodes), 0.92);
    }
  }
}

TEST(Utilisation, OneNodeGetsMostOfAWindow) {
  for (const Mode mode : {Mode::Exact, Mode::Lease, Mode::Adaptive}) {
    expect_mean_of(busy_runs(mode, Algorithm::FixedWindow, 1), 0.98);
    expect_mean_of(busy_runs(mode, Algorithm::AnchoredWindow, 1), 0.98);
    expect_mean_of(busy_runs(mode, Algorithm::SubWindows, 1), 0.90);
  }
}

}  // namespace
}  // namespace penstock::simulation
