#include "oracle/log.hpp"

#include <algorithm>

namespace penstock::oracle {

std::unique_ptr<Model> SlidingLogModel::clone() const {
  return std::make_unique<SlidingLogModel>(*this);
}

void SlidingLogModel::repair(Instant now) {
  const auto is_far_ahead = [&](const Admission& one) { return one.at > now + period_; };
  if (std::none_of(admissions_.begin(), admissions_.end(), is_far_ahead)) return;
  for (Admission& one : admissions_) one.at = std::min(one.at, now);
}

std::uint64_t SlidingLogModel::counted(Instant now) const {
  std::uint64_t sum = 0;
  for (const Admission& one : admissions_) {
    if (one.at > now - period_) sum += one.cost;
  }
  return sum;
}

bool SlidingLogModel::fits(std::uint64_t cost, Instant now) const {
  return counted(now) + cost <= limit_;
}

bool SlidingLogModel::unused(Instant now) const { return counted(now) == 0; }

void SlidingLogModel::forget_old(Instant now) {
  std::erase_if(admissions_, [&](const Admission& one) { return one.at <= now - period_; });
}

void SlidingLogModel::take(std::uint64_t cost, Instant now) {
  forget_old(now);
  const Instant newest = admissions_.empty() ? now : admissions_.back().at;
  admissions_.push_back({.at = std::max(now, newest), .cost = cost});
}

void SlidingLogModel::refund_units(std::uint64_t cost, Instant now) {
  forget_old(now);
  while (cost > 0 && !admissions_.empty()) {
    const std::uint64_t part = std::min(cost, admissions_.back().cost);
    admissions_.back().cost -= part;
    cost -= part;
    if (admissions_.back().cost == 0) admissions_.pop_back();
  }
}

}  // namespace penstock::oracle
