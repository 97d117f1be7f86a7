#include "oracle/counters.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>

namespace penstock::oracle {

using boost::multiprecision::cpp_int;

std::int64_t SlotCounts::position(Instant now) const {
  const std::int64_t number = now.time_since_epoch() / slot_;
  return std::max(number, reached_.value_or(number));
}

std::uint64_t SlotCounts::in_slot(std::int64_t number) const {
  const auto found = counts_.find(number);
  return found == counts_.end() ? 0 : found->second;
}

std::uint64_t SlotCounts::total(Instant now) const {
  const std::int64_t last = position(now);
  std::uint64_t sum = 0;
  for (const auto& [number, count] : counts_) {
    if (number >= last - kept_ && number <= last) sum += count;
  }
  return sum;
}

Duration SlotCounts::since_start_of_slot(Instant now) const {
  return std::max(now - Instant{position(now) * slot_}, Duration{0});
}

void SlotCounts::repair(Instant now) {
  const std::int64_t number = now.time_since_epoch() / slot_;
  if (!reached_ || *reached_ - number < tolerance_) return;
  std::map<std::int64_t, std::uint64_t> moved;
  for (std::int64_t age = 0; age <= kept_; ++age) moved[number - age] = in_slot(*reached_ - age);
  counts_ = std::move(moved);
  reached_ = number;
}

void SlotCounts::move_to(Instant now) {
  reached_ = position(now);
  std::erase_if(counts_, [&](const auto& slot) { return slot.first < *reached_ - kept_; });
}

void SlotCounts::add(std::uint64_t cost, Instant now) {
  move_to(now);
  counts_[*reached_] += cost;
}

void SlotCounts::subtract(std::uint64_t cost, Instant now) {
  move_to(now);
  for (auto slot = counts_.rbegin(); slot != counts_.rend(); ++slot) {
    const std::uint64_t part = std::min(cost, slot->second);
    slot->second -= part;
    cost -= part;
  }
}

void SlotCounts::clear() {
  counts_.clear();
  reached_.reset();
}

std::unique_ptr<Model> SlidingCounterModel::clone() const {
  return std::make_unique<SlidingCounterModel>(*this);
}

bool SlidingCounterModel::fits(std::uint64_t cost, Instant now) const {
  const std::int64_t window = windows_.position(now);
  const cpp_int period = period_.count();
  const cpp_int elapsed = windows_.since_start_of_slot(now).count();
  const cpp_int weighted = windows_.in_slot(window - 1) * (period - elapsed);
  return weighted + (cpp_int(windows_.in_slot(window)) + cost) * period <= limit_ * period;
}

void SlidingCounterModel::refund_units(std::uint64_t cost, Instant now) {
  if (windows_.ever_used()) windows_.subtract(cost, now);
}

std::unique_ptr<Model> SubWindowsModel::clone() const {
  return std::make_unique<SubWindowsModel>(*this);
}

bool SubWindowsModel::fits(std::uint64_t cost, Instant now) const {
  return parts_.total(now) + cost <= limit_;
}

void SubWindowsModel::refund_units(std::uint64_t cost, Instant now) {
  if (!parts_.ever_used()) return;
  parts_.subtract(cost, now);
  if (parts_.total(now) == 0) parts_.clear();
}

}  // namespace penstock::oracle
