#pragma once

#include "penstock/decision.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::app {

struct DemoRequest {
  Duration at;  // from the window boundary that the bursts straddle
  Outcome outcome;
};

// The most that passed in any period [from, from + period), and the earliest such `from`.
struct Peak {
  Duration from{};
  std::uint64_t passed = 0;
};

// The decisions of one algorithm, in order of arrival.
struct DemoRow {
  Quota quota;
  std::vector<DemoRequest> requests;
  std::uint64_t passed = 0;
  Peak peak;
};

// REQUIRES: instants in ascending order.
[[nodiscard]] Peak busiest_period(std::span<const Duration> instants, Duration period);

// Quiet, then a burst of `limit` within a fifth of a period before a window boundary and another
// right after it, then a steady trickle at the rate of the limit until a little after the next
// boundary. From the boundary between the bursts, ascending.
[[nodiscard]] std::vector<Duration> demo_arrivals(std::int64_t limit, Duration period);

// The first and the last instant that a picture of the arrivals should cover, in columns of which
// a period has kColumnsPerPeriod.
inline constexpr std::int64_t kColumnsPerPeriod = 50;
inline constexpr std::int64_t kBurstColumns = 10;
inline constexpr std::int64_t kFirstColumn = -13;
inline constexpr std::int64_t kLastColumn = 56;

// Runs the arrivals through every algorithm, in virtual time. The burst of `spec` applies to the
// bucket algorithms; its algorithm is ignored.
[[nodiscard]] Result<std::vector<DemoRow>> run_demo(const QuotaSpec& spec);

}  // namespace penstock::app
