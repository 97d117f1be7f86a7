#pragma once

#include "bench/demand.hpp"
#include "penstock/quota.hpp"
#include "penstock/shared_limiter.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Verifies that a shared store admits exactly what it should under concurrency.
namespace penstock::bench {

struct ExactnessCase {
  std::string name;
  Quota quota;
  std::uint32_t keys = 1;
};

// One key and many keys, each with a quota that refills during a run and one that does not.
[[nodiscard]] std::vector<ExactnessCase> exactness_cases(Algorithm algorithm);

// Outcomes per key.
struct KeyCounts {
  explicit KeyCounts(std::size_t keys) : requests(keys), admitted(keys), failed(keys) {}

  // REQUIRES: the same number of keys.
  void add(const KeyCounts& others);
  // Appends keys of another process that does not share them.
  void append(const KeyCounts& others);

  std::vector<std::uint64_t> requests;
  std::vector<std::uint64_t> admitted;
  std::vector<std::uint64_t> failed;  // may have been admitted
  std::vector<DemandLog::Entry> demand{};
  Duration slowest{};  // response time
};

struct ExactnessResult {
  std::uint64_t requests = 0;
  std::uint64_t admitted = 0;
  std::uint64_t failed = 0;
  std::uint64_t max_admitted = 0;    // sum over all keys
  std::uint64_t over_admitted = 0;   // beyond the maximum of each key
  std::uint64_t expected = 0;        // admissions of an exact limiter for the same demand
  std::uint64_t under_admitted = 0;  // below the guaranteed share of that

  // Relative to an exact limiter.
  [[nodiscard]] double utilisation() const {
    return expected == 0 ? 1 : static_cast<double>(admitted) / static_cast<double>(expected);
  }
  [[nodiscard]] bool is_exact() const { return over_admitted == 0 && under_admitted == 0; }
};

// The time of the run on the store's clock.
struct TimeSpan {
  Instant begin{};
  Instant end{};
  Instant steady_zero{};   // its time when the steady clock is zero
  Duration uncertainty{};  // of steady_zero, in both directions
};

// The guarantee of a mode. An exact store admits all that fits and no more.
struct Guarantee {
  std::uint64_t beyond = 0;          // extra admissions per key
  unsigned percent_that_fits = 100;  // lower if leases can expire unused
};

// A request was decided between its step in the log and the slowest response, on a clock that is
// known up to its uncertainty; under-admission excludes what refills in that time. REQUIRES:
// complete counts, and keys without earlier usage.
[[nodiscard]] ExactnessResult evaluate(const ExactnessCase& which, const KeyCounts& counts,
                                       TimeSpan span, Guarantee guarantee = {});

struct ExactnessLoad {
  unsigned threads = 1;
  Duration time{};
  std::uint64_t seed = 1;
  Demand demand = Demand::Full;
};

// Runs all cases in turn.
[[nodiscard]] std::vector<KeyCounts> run_exactness_load(SharedLimiter& limiter,
                                                        const std::vector<ExactnessCase>& cases,
                                                        const ExactnessLoad& load);

}  // namespace penstock::bench
