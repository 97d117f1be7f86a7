#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace penstock::bench {

// A histogram of times with a relative error of 1/256 and constant memory. The maximum is exact.
class LatencyHistogram {
 public:
  using Duration = std::chrono::nanoseconds;

  // Negative values count as zero.
  void add(Duration time) noexcept;
  void add(const LatencyHistogram& others) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The percentile, at most 1/256 too high and never above the maximum; zero without samples.
  [[nodiscard]] Duration percentile(double share) const noexcept;

 private:
  // Below 2^kExactBits every nanosecond has its own step; above, every power of two has 256.
  static constexpr unsigned kStepBits = 8;
  static constexpr unsigned kExactBits = kStepBits + 1;
  static constexpr std::size_t kSteps =
      (std::size_t{1} << kExactBits) + (63 - kExactBits) * (std::size_t{1} << kStepBits);

  [[nodiscard]] static std::size_t step_of(std::uint64_t nanos) noexcept;
  [[nodiscard]] static std::uint64_t end_of(std::size_t step) noexcept;

  std::array<std::uint64_t, kSteps> counts_{};
  std::uint64_t count_ = 0;
  Duration longest_{0};
};

}  // namespace penstock::bench
