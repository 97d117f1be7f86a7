#include "bench/request_schedule.hpp"

namespace penstock::bench {

std::optional<RequestSchedule::TimePoint> RequestSchedule::next() const noexcept {
  // in two parts, to stay within 64 bits
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::chrono::seconds whole{scheduled_ / rate_};
  const std::chrono::nanoseconds part{(scheduled_ % rate_) * kSecond / rate_};
  const TimePoint at = start_ + whole + part;
  if (at >= end_) return std::nullopt;
  return at;
}

}  // namespace penstock::bench
