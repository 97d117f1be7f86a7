#include "bench/admissions.hpp"

namespace penstock::bench {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

std::uint64_t max_admitted_in(const Quota& quota, Duration span) {
  const auto length = static_cast<std::uint64_t>(span.count());
  const auto period = static_cast<std::uint64_t>(quota.period().count());
  const std::uint64_t whole_periods = length / period;
  const std::uint64_t limit = quota.limit();
  switch (quota.algorithm()) {
    case Algorithm::TokenBucket:
    case Algorithm::Gcra: {
      // burst + limit * span / period
      const Wide of_rest = static_cast<Wide>(length % period) * limit / period;
      return quota.capacity() + whole_periods * limit + static_cast<std::uint64_t>(of_rest);
    }
    case Algorithm::SlidingLog:
    case Algorithm::SubWindows: return (whole_periods + 1) * limit;
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow:
    case Algorithm::SlidingCounter: break;
  }
  const std::uint64_t windows_touched = (length + period - 1) / period + 1;
  return windows_touched * limit;
}

std::uint64_t Admissions::beyond(const Quota& quota, Duration span) const {
  const std::uint64_t max_per_key = max_admitted_in(quota, span);
  std::uint64_t excess = 0;
  for (const std::uint32_t admitted : admitted_) {
    excess += admitted > max_per_key ? admitted - max_per_key : 0;
  }
  return excess;
}

}  // namespace penstock::bench
