#pragma once

#include "apps/penstock/demo/demo_scenario.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::app {

// The requests of one key under one algorithm, from an aligned window boundary on.
struct AlgorithmRun {
  struct Level {
    Duration at{};
    std::uint32_t remaining = 0;
  };
  struct Window {
    Duration begin{};
    Duration end{};
  };

  std::vector<DemoRequest> requests{};
  std::vector<Level> levels{};    // at regular instants, between the requests
  std::vector<Window> windows{};  // of fixed and anchored windows; otherwise empty
  std::uint64_t admitted = 0;
  Peak peak{};
};

// Decides the arrivals with the library, on a manual clock. REQUIRES: arrivals in ascending order,
// not negative, before `end`.
[[nodiscard]] AlgorithmRun run_algorithm(const Quota& quota, std::span<const Duration> arrivals,
                                         Duration end);

// Fifteen requests within three seconds in the middle of a window, then one per second.
[[nodiscard]] std::vector<Duration> burst_arrivals();
// Ten requests right before the boundary at 10 s and ten right after it, then one per second.
[[nodiscard]] std::vector<Duration> boundary_arrivals();

inline constexpr Duration kRunEnd = std::chrono::seconds{20};

// 10 requests per 10 seconds.
[[nodiscard]] Quota pictured_quota(Algorithm algorithm);

}  // namespace penstock::app
