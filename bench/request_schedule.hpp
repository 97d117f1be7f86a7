#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace penstock::bench {

// The due times of an open loop: a fixed rate, independent of responses.
class RequestSchedule {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // REQUIRES: rate > 0
  RequestSchedule(std::uint64_t rate, TimePoint start, TimePoint end) noexcept
      : rate_(rate), start_(start), end_(end) {}

  // The next due time; empty at the end of the run.
  [[nodiscard]] std::optional<TimePoint> next() const noexcept;
  void advance() noexcept { ++scheduled_; }
  [[nodiscard]] std::uint64_t scheduled() const noexcept { return scheduled_; }

 private:
  std::uint64_t rate_;
  TimePoint start_;
  TimePoint end_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace penstock::bench
