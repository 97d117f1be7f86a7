#pragma once

#include "telemetry/metrics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::telemetry {

// The observations of a latency histogram, per bucket.
using LatencyBuckets = std::array<std::int64_t, LatencyCells::kBounds.size() + 1>;

// The latency that this share of the observations does not exceed, interpolated within its bucket;
// 0 without observations. The last bucket has no end: its begin.
[[nodiscard]] LatencyCells::Duration latency_percentile(const LatencyBuckets& buckets,
                                                        std::int64_t percent);

// The histogram of the last minute.
//
// Thread-safety: none.
class LatencyWindow {
 public:
  static constexpr std::size_t kSeconds = 60;

  // The buckets since the start, once a second.
  void sample(const LatencyBuckets& totals);
  [[nodiscard]] LatencyBuckets last_minute() const;

 private:
  std::array<LatencyBuckets, kSeconds + 1> samples_{};
  std::size_t next_ = 0;
  std::size_t used_ = 0;
};

}  // namespace penstock::telemetry
