#pragma once

#include "bench/load.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace penstock::bench {

struct StoreBenchOptions : Load {
  // clang 14 finds no code for a consteval call in the initializer of a member.
  static constexpr Quota kUsualQuota = per_day(1000);

  Quota quota = kUsualQuota;
  unsigned batch = 1;  // above 1, checks go through Limiter::check_each
};

// What one contender did.
struct StoreFigures {
  double checks_per_second = 0;  // by wall time, load generator included
  double cpu_ns_per_check = 0;   // of all threads, load generator included
  double p50_us = 0;             // of single calls, one in 128, the reading of the clock included
  double p99_us = 0;
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t over_admitted = 0;
  double bytes_per_key = 0;  // what the contender says it allocated; for the baseline, as resident
  double resident_bytes_per_key = 0;
};

struct StoreBenchReport {
  StoreFigures penstock;
  // After every key was asked for once. Fewer than there are when the refill is so fast that the
  // first ones had expired by then.
  std::uint64_t keys_remembered = 0;
  std::optional<StoreFigures> naive;
  // The same loop with nothing to ask: what of the above is the load generator's own.
  double generator_ns_per_check = 0;
};

enum class Baseline : std::uint8_t { None, Naive };

// Fills the store with every key once, then asks the given number of checks in several rounds, the
// contenders taking turns. `on_progress` hears a share between 0 and 1 now and then.
[[nodiscard]] StoreBenchReport run_store_bench(const StoreBenchOptions& options, Baseline baseline,
                                               const std::function<void(double)>& on_progress);

}  // namespace penstock::bench
