#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace penstock::bench {

// When the requests of an open loop are due: so many a second, evenly, whether or not earlier ones
// were answered.
class RequestSchedule {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // REQUIRES: rate > 0
  RequestSchedule(std::uint64_t rate, TimePoint start, TimePoint end) noexcept
      : rate_(rate), start_(start), end_(end) {}

  // When the next one is due; nothing once the time is over.
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
