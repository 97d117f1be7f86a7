#include "simulation/seeds.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace penstock::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSlowdown = 15;
#elif !defined(__OPTIMIZE__)
constexpr std::uint64_t kSlowdown = 5;
#else
constexpr std::uint64_t kSlowdown = 1;
#endif

std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

double part(std::uint64_t of, std::uint64_t whole) {
  return static_cast<double>(of) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
}

}  // namespace

Seeds seeds(std::uint64_t usual) {
  return {.first = from_environment("PENSTOCK_SEED", 1),
          .count = from_environment("PENSTOCK_SEEDS", usual / kSlowdown)};
}

void RunStats::add(const Scenario& scenario, const Outcome& outcome) {
  ++runs_;
  checks_ += outcome.checks;
  calls_ += outcome.calls;
  repeated_ += outcome.repeated;
  const double utilisation = part(outcome.admitted, outcome.ideal);
  utilisation_ += utilisation;
  least_utilisation_ = std::min(least_utilisation_, utilisation);
  worst_ = std::max(worst_, outcome.worst);
  if (outcome.broken.empty() || broken_runs_++ > 0) return;
  first_broken_ = describe(scenario);
  for (const std::string& each : outcome.broken) first_broken_ += "\n  " + each;
  first_broken_ += "\nagain: PENSTOCK_SEED=" + std::to_string(scenario.seed) + " PENSTOCK_SEEDS=1";
}

double RunStats::mean_utilisation() const {
  return utilisation_ / static_cast<double>(std::max<std::uint64_t>(runs_, 1));
}

void RunStats::print(const std::string& title) const {
  std::printf(
      "%-24s %6llu runs %9llu checks  %.3f calls each  admits %5.1f %% of ideal, at least %5.1f %%"
      "  excess %3.0f %% of the bound\n",
      title.c_str(), static_cast<unsigned long long>(runs_),
      static_cast<unsigned long long>(checks_), part(calls_, checks_), 100 * mean_utilisation(),
      100 * least_utilisation_, 100 * worst_);
}

std::string RunStats::failure_report() const {
  if (broken_runs_ == 0) return {};
  return std::to_string(broken_runs_) + " of " + std::to_string(runs_) +
         " runs broke a promise; the first: " + first_broken_;
}

}  // namespace penstock::simulation
