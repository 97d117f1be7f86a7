#include "bench/latency_histogram.hpp"

#include <algorithm>
#include <bit>

namespace penstock::bench {

void LatencyHistogram::add(Duration time) noexcept {
  time = std::max(time, Duration{0});
  ++counts_[step_of(static_cast<std::uint64_t>(time.count()))];
  ++count_;
  longest_ = std::max(longest_, time);
}

std::size_t LatencyHistogram::step_of(std::uint64_t nanos) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(nanos));
  if (bits <= kExactBits) return nanos;
  // The highest bit selects the power of two, the next eight bits the step.
  const unsigned shift = bits - kExactBits;
  return (std::size_t{shift} << kStepBits) + (nanos >> shift);
}

std::uint64_t LatencyHistogram::end_of(std::size_t step) noexcept {
  constexpr std::size_t kExact = std::size_t{1} << kExactBits;
  if (step < kExact) return step;
  const std::size_t shift = (step >> kStepBits) - 1;
  const std::uint64_t top = step - (shift << kStepBits);
  return ((top + 1) << shift) - 1;
}

void LatencyHistogram::add(const LatencyHistogram& others) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += others.counts_[i];
  count_ += others.count_;
  longest_ = std::max(longest_, others.longest_);
}

LatencyHistogram::Duration LatencyHistogram::percentile(double share) const noexcept {
  if (count_ == 0) return Duration{0};
  const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(count_ - 1));
  std::uint64_t below = 0;
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    below += counts_[step];
    if (below > rank) return std::min(Duration{end_of(step)}, longest_);
  }
  return longest_;
}

}  // namespace penstock::bench
