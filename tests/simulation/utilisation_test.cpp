#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

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

// Storms on one node, each after a silence in which the bucket fills.
double storms(Mode mode, Defect defect) {
  Figures figures;
  for (std::uint64_t seed = 3; seed <= 600; seed += 3) {
    Scenario scenario = draw_scenario(seed, mode, Algorithm::TokenBucket, {});
    scenario.nodes = 1;
    figures.add(scenario, simulate(scenario, defect));
  }
  figures.print(std::string(core::to_string(mode)) + " storms");
  return figures.mean_utilisation();
}

TEST(Utilisation, OneNodeGetsAlmostAllOfABucket) {
  for (const Mode mode : {Mode::Lease, Mode::LeaseStrict, Mode::Adaptive}) {
    for (const Algorithm algorithm : {Algorithm::TokenBucket, Algorithm::Gcra}) {
      const Figures figures = busy_runs(mode, algorithm, 1);
      EXPECT_GE(figures.mean_utilisation(), 0.98);
      EXPECT_GE(figures.least_utilisation(), 0.93);
    }
  }
}

TEST(Utilisation, Storms) {
  storms(Mode::Exact, Defect::None);
  storms(Mode::Lease, Defect::None);
  storms(Mode::LeaseStrict, Defect::None);
  storms(Mode::LeaseStrict, Defect::SingleStepRefill);
}

}  // namespace
}  // namespace penstock::simulation
