#include "lease/lease_size.hpp"

#include <algorithm>

namespace penstock::lease {
namespace {

constexpr std::uint64_t kMicrosPerSecond = 1'000'000;
constexpr std::uint64_t kMostUnits = 1'000'000'000;  // of any quota

// What so many per second are in this time. Bounded, so that nothing overflows.
std::uint64_t in_time(std::uint64_t rate, base::Deadline::duration time) noexcept {
  const auto micros = std::chrono::ceil<Duration>(time).count();
  const auto bounded = static_cast<std::uint64_t>(std::clamp<std::int64_t>(micros, 0, 10'000'000));
  return (rate * bounded + kMicrosPerSecond - 1) / kMicrosPerSecond;
}

}  // namespace

void LeaseSize::note_answer(base::Deadline::duration took) noexcept {
  // a slow answer counts at once, a quick one little by little
  answer_time_ = std::max(took, answer_time_ - (answer_time_ - took) / 8);
}

std::uint64_t LeaseSize::rate_until(base::Deadline now) const noexcept {
  // nobody knows how fast a key is from its first requests
  const Duration shortest = rate_ == 0 ? lifetime_ / 2 : Duration{std::chrono::milliseconds{1}};
  const Duration passed = std::max(std::chrono::floor<Duration>(now - since_), shortest);
  const std::uint64_t demand = std::min(demand_, kMostUnits);
  return std::min(demand * kMicrosPerSecond / static_cast<std::uint64_t>(passed.count()),
                  kMostUnits);
}

std::uint64_t LeaseSize::next(base::Deadline now, base::Deadline::duration counts_for) noexcept {
  const std::uint64_t current = rate_until(now);
  rate_ = rate_ == 0 ? current : (rate_ + current) / 2;
  since_ = now;
  demand_ = 0;
  const std::uint64_t want =
      in_time(rate_, std::min<base::Deadline::duration>(lifetime_ / 2, counts_for));
  low_water_ = std::min(in_time(rate_, ahead()), want / 2);
  return want;
}

bool LeaseSize::is_cold(base::Deadline now) const noexcept {
  if (now - since_ < lifetime_) return false;
  return in_time(rate_until(now), lifetime_) < kFewest;
}

}  // namespace penstock::lease
