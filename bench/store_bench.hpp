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

// Figures of one contender.
struct StoreFigures {
  double checks_per_second = 0;  // wall time, load generator included
  double cpu_ns_per_check = 0;   // of all threads, load generator included
  double p50_us = 0;             // of one call in 128, clock readings included
  double p99_us = 0;
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t over_admitted = 0;
  double bytes_per_key = 0;  // as reported by the store; resident for the baseline
  double resident_bytes_per_key = 0;
};

struct StoreBenchReport {
  StoreFigures penstock;
  // After every key was checked once. Fewer than `keys` if the first ones have expired by then.
  std::uint64_t keys_remembered = 0;
  std::optional<StoreFigures> naive;
  // The share of the load generator: the same loop without a store.
  double generator_ns_per_check = 0;
};

enum class Baseline : std::uint8_t { None, Naive };

// Checks every key once, then runs the checks in several rounds; contenders alternate.
// `on_progress` receives values from 0 to 1.
[[nodiscard]] StoreBenchReport run_store_bench(const StoreBenchOptions& options, Baseline baseline,
                                               const std::function<void(double)>& on_progress);

}  // namespace penstock::bench
