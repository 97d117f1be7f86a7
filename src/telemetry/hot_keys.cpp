#include "telemetry/hot_keys.hpp"

#include <algorithm>
#include <map>

namespace penstock::telemetry {

std::vector<HotKey> merge_hot_keys(const std::vector<HotKeySnapshot>& snapshots, std::size_t most) {
  struct Sum {
    HotKey key;
    std::uint64_t floors_met = 0;  // sum of the floors of snapshots that contain it
  };
  std::map<std::string_view, Sum> sums;
  std::uint64_t floors = 0;
  for (const HotKeySnapshot& snapshot : snapshots) {
    floors += snapshot.floor;
    for (const HotKey& key : snapshot.keys) {
      Sum& sum = sums[key.key];
      sum.key.count += key.count;
      sum.key.error += key.error;
      sum.floors_met += snapshot.floor;
    }
  }
  std::vector<HotKey> merged;
  merged.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    // A snapshot without the key may have seen it up to its floor.
    const std::uint64_t unseen = floors - sum.floors_met;
    merged.push_back({.key = std::string(key),
                      .count = sum.key.count + unseen,
                      .error = sum.key.error + unseen});
  }
  std::stable_sort(merged.begin(), merged.end(), [](const HotKey& a, const HotKey& b) {
    // Among equal counts, the one with the smaller error first.
    return a.count != b.count ? a.count > b.count : a.error < b.error;
  });
  if (merged.size() > most) merged.resize(most);
  return merged;
}

void HotKeyRegistry::publish(std::size_t worker, HotKeyKind kind, HotKeySnapshot snapshot) {
  const std::lock_guard lock(mutex_);
  std::vector<HotKeySnapshot>& snapshots = snapshots_[static_cast<std::size_t>(kind)];
  if (snapshots.size() <= worker) snapshots.resize(worker + 1);
  snapshots[worker] = std::move(snapshot);
}

std::vector<HotKey> HotKeyRegistry::top(HotKeyKind kind, std::size_t most) const {
  std::vector<HotKeySnapshot> snapshots;
  {
    const std::lock_guard lock(mutex_);
    snapshots = snapshots_[static_cast<std::size_t>(kind)];
  }
  return merge_hot_keys(snapshots, most);
}

void HotKeyRegistry::publish(std::size_t worker, DeniedSnapshot snapshot) {
  const std::lock_guard lock(mutex_);
  if (denied_.size() <= worker) denied_.resize(worker + 1);
  denied_[worker] = std::move(snapshot);
}

std::vector<DeniedSnapshot> HotKeyRegistry::denied() const {
  const std::lock_guard lock(mutex_);
  return denied_;
}

std::uint64_t HotKeys::weight(std::size_t kind) noexcept {
  if (noted_[kind] < kUnsampledPerTick) {
    ++noted_[kind];
    return 1;
  }
  if (skips_left_ > 0) {
    --skips_left_;
    return 0;
  }
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  // Random instead of every eighth: the limits of one request arrive in a fixed order.
  skips_left_ = static_cast<std::uint32_t>((random_ >> 32U) % (2 * kSampleEvery - 1));
  return kSampleEvery;
}

void HotKeys::note(HotKeyKind kind, std::string_view rule, std::string_view subject) {
  if (kind == HotKeyKind::Denied) denied_.add_subject(rule, subject);
  const std::uint64_t times = weight(static_cast<std::size_t>(kind));
  if (times == 0) return;
  std::size_t size = rule.copy(key_.data(), key_.size() - 1);
  key_[size++] = ' ';
  size += subject.copy(key_.data() + size, key_.size() - size);
  counted_[static_cast<std::size_t>(kind)].add({key_.data(), size}, times);
  if (kind == HotKeyKind::Denied) denied_.add({key_.data(), size}, times);
}

void HotKeys::tick() {
  noted_ = {};
  const bool fades = ++ticks_ % kHalfLife == 0;
  for (std::size_t kind = 0; kind < kHotKeyKinds; ++kind) {
    SpaceSaving& counted = counted_[kind];
    registry_.publish(worker_, static_cast<HotKeyKind>(kind),
                      {.keys = counted.keys(), .floor = counted.floor()});
    if (fades) counted.halve();
  }
  denied_.tick(clock_.now());
  if (denied_.has_changed()) registry_.publish(worker_, denied_.snapshot());
}

}  // namespace penstock::telemetry
