#pragma once

#include "simulation/world.hpp"

#include <cstdint>
#include <string>

namespace penstock::simulation {

// Which runs to make: from PENSTOCK_SEED on, or a fixed start; PENSTOCK_SEEDS runs, or `usual`,
// fewer in slow builds.
struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = 0;
};
[[nodiscard]] Seeds seeds(std::uint64_t usual);

// Statistics over many runs.
class RunStats {
 public:
  void add(const Scenario& scenario, const Outcome& outcome);
  void print(const std::string& title) const;

  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
  [[nodiscard]] double mean_utilisation() const;
  [[nodiscard]] double least_utilisation() const { return least_utilisation_; }
  // Empty if all promises held; else the first violations and how to reproduce them.
  [[nodiscard]] std::string failure_report() const;

 private:
  std::uint64_t runs_ = 0;
  std::uint64_t broken_runs_ = 0;
  std::uint64_t checks_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t repeated_ = 0;
  double utilisation_ = 0;
  double least_utilisation_ = 1;
  double worst_ = 0;
  std::string first_broken_;
};

}  // namespace penstock::simulation
