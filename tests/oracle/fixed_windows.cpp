#include "oracle/fixed_windows.hpp"

#include <algorithm>

namespace penstock::oracle {

void FixedWindowModel::repair(Instant now) {
  if (window_ && window_->end > now + 2 * period_) window_->end = end_of_window_at(now);
}

bool FixedWindowModel::fits(std::uint64_t cost, Instant now) const {
  return (unused(now) ? 0 : window_->count) + cost <= limit_;
}

bool FixedWindowModel::unused(Instant now) const { return !window_ || now >= window_->end; }

void FixedWindowModel::take(std::uint64_t cost, Instant now) {
  if (unused(now)) window_ = Window{.end = end_of_window_at(now), .count = 0};
  window_->count += cost;
}

void FixedWindowModel::refund_units(std::uint64_t cost, Instant now) {
  if (unused(now) || window_->count <= cost) {
    window_.reset();
  } else {
    window_->count -= cost;
  }
}

std::unique_ptr<Model> AlignedWindowModel::clone() const {
  return std::make_unique<AlignedWindowModel>(*this);
}

Instant AlignedWindowModel::end_of_window_at(Instant now) const {
  const std::int64_t number = now.time_since_epoch() / period();
  return Instant{(number + 1) * period()};
}

std::unique_ptr<Model> AnchoredWindowModel::clone() const {
  return std::make_unique<AnchoredWindowModel>(*this);
}

}  // namespace penstock::oracle
