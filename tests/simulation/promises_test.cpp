#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

// Whatever goes wrong, no more is admitted than docs/guarantees.md promises, in any interval; who
// waits is answered once; a refusal that is repeated is right; a blocked key is refused.
namespace penstock::simulation {
namespace {

using core::Mode;

struct Trouble {
  const char* name;
  Faults faults;
};

constexpr std::array kTroubles{
    Trouble{.name = "delays", .faults = {}},
    Trouble{.name = "losses", .faults = {.losses = true}},
    Trouble{.name = "crashes", .faults = {.losses = true, .crashes = true}},
    Trouble{.name = "failovers", .faults = {.failovers = true}},
    Trouble{.name = "clock_steps", .faults = {.steps = true}},
    Trouble{.name = "operators", .faults = {.losses = true, .operators = true}},
    Trouble{
        .name = "everything",
        .faults =
            {.losses = true, .crashes = true, .failovers = true, .steps = true, .operators = true}},
};

constexpr std::array kAlgorithms{
    Algorithm::TokenBucket,    Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::TokenBucket,
    Algorithm::AnchoredWindow, Algorithm::Gcra, Algorithm::SubWindows};

using Parameters = std::tuple<Mode, Trouble>;

std::string name_of(const testing::TestParamInfo<Parameters>& parameter) {
  const auto& [mode, trouble] = parameter.param;
  return std::string(core::to_string(mode)) + "_" + trouble.name;
}

class Promises : public testing::TestWithParam<Parameters> {};

TEST_P(Promises, AreKept) {
  const auto& [mode, trouble] = GetParam();
  const Seeds wanted = seeds(300);
  Figures figures;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    const Algorithm algorithm = kAlgorithms.at(seed % kAlgorithms.size());
    const Scenario scenario = draw_scenario(seed, mode, algorithm, trouble.faults);
    figures.add(scenario, simulate(scenario));
  }
  figures.print(std::string(core::to_string(mode)) + " " + trouble.name);
  EXPECT_EQ(figures.complaint(), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, Promises,
                         testing::Combine(testing::Values(Mode::Exact, Mode::Lease,
                                                          Mode::LeaseStrict, Mode::Adaptive),
                                          testing::ValuesIn(kTroubles)),
                         name_of);

}  // namespace
}  // namespace penstock::simulation
