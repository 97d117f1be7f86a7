#include "replay/statistics/timeline.hpp"

#include <algorithm>
#include <array>

namespace penstock::replay {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Each divides the next.
constexpr std::array<Duration, 12> kWidths{seconds{1}, seconds{5}, seconds{10}, seconds{30},
                                           minutes{1}, minutes{5}, minutes{10}, minutes{30},
                                           hours{1},   hours{6},   hours{12},   hours{24}};

Duration next_width(Duration width) {
  const auto next = std::upper_bound(kWidths.begin(), kWidths.end(), width);
  return next == kWidths.end() ? width * 2 : *next;
}

Instant aligned(Instant time, Duration width) {
  return Instant{time.time_since_epoch() / width * width};
}

}  // namespace

Timeline::Step& Timeline::Step::operator+=(const Step& other) noexcept {
  requests += other.requests;
  denied += other.denied;
  shadow_denied += other.shadow_denied;
  return *this;
}

void Timeline::add(Instant time, const Step& counts) {
  if (steps_.empty()) start_ = aligned(time, width_);
  while ((time - start_) / width_ >= static_cast<std::int64_t>(kMaxSteps)) widen();
  const auto index = static_cast<std::size_t>((time - start_) / width_);
  if (index >= steps_.size()) steps_.resize(index + 1);
  steps_[index] += counts;
}

void Timeline::widen() {
  const Duration wider = next_width(width_);
  const Instant start = aligned(start_, wider);
  std::vector<Step> merged;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Instant time = start_ + width_ * static_cast<std::int64_t>(i);
    const auto index = static_cast<std::size_t>((time - start) / wider);
    if (index >= merged.size()) merged.resize(index + 1);
    merged[index] += steps_[i];
  }
  steps_ = std::move(merged);
  start_ = start;
  width_ = wider;
}

Timeline::Summary Timeline::summary(std::size_t most) const {
  const std::size_t each = std::max<std::size_t>(1, (steps_.size() + most - 1) / most);
  Summary summary{.steps = {}, .width = width_ * static_cast<std::int64_t>(each)};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i % each == 0) summary.steps.emplace_back();
    summary.steps.back() += steps_[i];
  }
  return summary;
}

}  // namespace penstock::replay
