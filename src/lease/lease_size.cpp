#include "lease/lease_size.hpp"

#include <algorithm>

namespace penstock::lease {
namespace {

constexpr std::uint64_t kMaxUnits = 1'000'000'000;  // of any quota; prevents overflow

std::uint64_t micros(base::Deadline::duration time) noexcept {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::floor<Duration>(time).count(), 0));
}

}  // namespace

void LeaseSize::note_answer(base::Deadline::duration took) noexcept {
  // a slow answer takes effect at once, a quick one gradually
  answer_time_ = std::max(took, answer_time_ - (answer_time_ - took) / 8);
}

std::uint64_t LeaseSize::rate(base::Deadline now) const noexcept {
  const std::uint64_t whole = micros(lifetime_);
  const std::uint64_t passed = micros(now - since_);
  const std::uint64_t demand = std::min(demand_, kMaxUnits);
  if (passed >= whole) return demand * whole / passed;
  return std::min(rate_ * (whole - passed) / whole + demand, kMaxUnits);
}

void LeaseSize::fold(base::Deadline now) noexcept {
  rate_ = rate(now);
  since_ = now;
  demand_ = 0;
}

std::uint64_t LeaseSize::spent_in(base::Deadline::duration time,
                                  base::Deadline now) const noexcept {
  const std::uint64_t whole = micros(lifetime_);
  return rate(now) * std::min(micros(time), whole) / whole;
}

std::uint64_t LeaseSize::want(base::Deadline now,
                              base::Deadline::duration counts_for) const noexcept {
  return spent_in(std::min<base::Deadline::duration>(lifetime_ / 2, counts_for), now);
}

std::uint64_t LeaseSize::low_water(base::Deadline now) const noexcept {
  return std::min(spent_in(ahead(), now), spent_in(lifetime_ / 4, now));
}

bool LeaseSize::is_cold(base::Deadline now) const noexcept {
  return now - began_ >= lifetime_ && rate(now) < kMinUnits;
}

}  // namespace penstock::lease
