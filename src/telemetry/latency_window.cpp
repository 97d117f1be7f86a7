#include "telemetry/latency_window.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::telemetry {

LatencyCells::Duration latency_percentile(const LatencyBuckets& buckets, std::int64_t percent) {
  constexpr auto& kBounds = LatencyCells::kBounds;
  const std::int64_t total = std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0});
  if (total == 0) return LatencyCells::Duration{0};
  const std::int64_t rank = (total * percent + 99) / 100;
  std::int64_t below = 0;
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && below + buckets[bucket] < rank) below += buckets[bucket++];
  const auto begin = bucket == 0 ? LatencyCells::Duration{0} : kBounds[bucket - 1];
  if (bucket == kBounds.size()) return begin;
  return begin + (kBounds[bucket] - begin) * (rank - below) / buckets[bucket];
}

void LatencyWindow::sample(const LatencyBuckets& totals) {
  samples_[next_] = totals;
  next_ = (next_ + 1) % samples_.size();
  used_ = std::min(used_ + 1, samples_.size());
}

LatencyBuckets LatencyWindow::last_minute() const {
  LatencyBuckets buckets{};
  if (used_ == 0) return buckets;
  const std::size_t newest = (next_ + samples_.size() - 1) % samples_.size();
  const std::size_t oldest = (next_ + samples_.size() - used_) % samples_.size();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    buckets[i] = std::max<std::int64_t>(0, samples_[newest][i] - samples_[oldest][i]);
  }
  return buckets;
}

}  // namespace penstock::telemetry
