#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace penstock::bench {

// Times, counted in steps of at most a 256th of their size, so that a run of any length needs no
// more memory. The longest is kept as it is.
class LatencyHistogram {
 public:
  using Duration = std::chrono::nanoseconds;

  // What is negative counts as zero.
  void add(Duration time) noexcept;
  void add(const LatencyHistogram& others) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The time below which this share of all lies, or up to a 256th more, never more than the
  // longest; zero when there are none.
  [[nodiscard]] Duration percentile(double share) const noexcept;

 private:
  // Below 2^kExactBits every nanosecond has a step of its own; above, every power of two has 256.
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
