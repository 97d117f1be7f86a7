#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

// Under any fault, no more is admitted than docs/explanation/guarantees.md promises in any
// interval; every waiter is answered once; cached denials are correct; a blocked key is denied.
namespace penstock::simulation {
namespace {

using core::Mode;

struct FaultKind {
  const char* name;
  Faults faults;
};

constexpr std::array kFaultKinds{
    FaultKind{.name = "delays", .faults = {}},
    FaultKind{.name = "losses", .faults = {.losses = true}},
    FaultKind{.name = "crashes", .faults = {.losses = true, .crashes = true}},
    FaultKind{.name = "failovers", .faults = {.failovers = true}},
    FaultKind{.name = "clock_steps", .faults = {.steps = true}},
    FaultKind{.name = "operators", .faults = {.losses = true, .operators = true}},
    FaultKind{
        .name = "everything",
        .faults =
            {.losses = true, .crashes = true, .failovers = true, .steps = true, .operators = true}},
};

constexpr std::array kAlgorithms{
    Algorithm::TokenBucket,    Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::TokenBucket,
    Algorithm::AnchoredWindow, Algorithm::Gcra, Algorithm::SubWindows};

using Parameters = std::tuple<Mode, FaultKind>;

std::string name_of(const testing::TestParamInfo<Parameters>& parameter) {
  const auto& [mode, fault_kind] = parameter.param;
  return std::string(core::to_string(mode)) + "_" + fault_kind.name;
}

class Promises : public testing::TestWithParam<Parameters> {};

TEST_P(Promises, HoldUnderAllFaults) {
  const auto& [mode, fault_kind] = GetParam();
  const Seeds wanted = seeds(300);
  RunStats run_stats;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    const Algorithm algorithm = kAlgorithms.at(seed % kAlgorithms.size());
    const Scenario scenario = draw_scenario(seed, mode, algorithm, fault_kind.faults);
    run_stats.add(scenario, simulate(scenario));
  }
  run_stats.print(std::string(core::to_string(mode)) + " " + fault_kind.name);
  EXPECT_EQ(run_stats.failure_report(), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, Promises,
                         testing::Combine(testing::Values(Mode::Exact, Mode::Lease,
                                                          Mode::LeaseStrict, Mode::Adaptive),
                                          testing::ValuesIn(kFaultKinds)),
                         name_of);

}  // namespace
}  // namespace penstock::simulation
