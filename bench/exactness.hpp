#pragma once

#include "bench/demand.hpp"
#include "penstock/quota.hpp"
#include "penstock/shared_limiter.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Whether a shared store admits exactly what it should, however many ask at once.
namespace penstock::bench {

struct ExactnessCase {
  std::string name;
  Quota quota;
  std::uint32_t keys = 1;
};

// One hot key and many, each under a quota that does not refill within a run and one that does.
[[nodiscard]] std::vector<ExactnessCase> exactness_cases(Algorithm algorithm);

// What was answered, per key.
struct KeyCounts {
  explicit KeyCounts(std::size_t keys) : requests(keys), admitted(keys), failed(keys) {}

  // REQUIRES: as many keys.
  void add(const KeyCounts& others);
  // Counts the others' keys as further ones, where processes do not share them.
  void append(const KeyCounts& others);

  std::vector<std::uint64_t> requests;
  std::vector<std::uint64_t> admitted;
  std::vector<std::uint64_t> failed;  // nobody knows whether these were admitted
  std::vector<DemandLog::Entry> demand{};
  Duration slowest{};  // answer to a request
};

struct ExactnessResult {
  std::uint64_t requests = 0;
  std::uint64_t admitted = 0;
  std::uint64_t failed = 0;
  std::uint64_t max_admitted = 0;    // that all keys may be admitted together
  std::uint64_t over_admitted = 0;   // beyond what each key may
  std::uint64_t expected = 0;        // that an exact limiter would admit of the same demand
  std::uint64_t under_admitted = 0;  // below what must be admitted of that

  // Of what an exact limiter would admit.
  [[nodiscard]] double utilisation() const {
    return expected == 0 ? 1 : static_cast<double>(admitted) / static_cast<double>(expected);
  }
  [[nodiscard]] bool is_exact() const { return over_admitted == 0 && under_admitted == 0; }
};

// When all of it happened, on the store's clock.
struct TimeSpan {
  Instant begin{};
  Instant end{};
  Instant steady_zero{};  // what it shows when the steady clock shows zero
};

// What is promised: by an exact store, all that fits and not one more.
struct Guarantee {
  std::uint64_t beyond = 0;          // that each key may be admitted besides
  unsigned percent_that_fits = 100;  // less where units can be lost with a lease
};

// Too few is judged as far as time is known: a request was decided some time between its step of
// the log and the slowest answer. What refills in that time may be missing.
// REQUIRES: the counts are of all who asked, and nobody had used the keys before.
[[nodiscard]] ExactnessResult evaluate(const ExactnessCase& which, const KeyCounts& counts,
                                       TimeSpan span, Guarantee guarantee = {});

struct ExactnessLoad {
  unsigned threads = 1;
  Duration time{};
  std::uint64_t seed = 1;
  Demand demand = Demand::Full;
};

// Asks about all cases in turn.
[[nodiscard]] std::vector<KeyCounts> run_exactness_load(SharedLimiter& limiter,
                                                        const std::vector<ExactnessCase>& cases,
                                                        const ExactnessLoad& load);

}  // namespace penstock::bench
