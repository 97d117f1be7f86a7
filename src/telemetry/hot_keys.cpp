#include "telemetry/hot_keys.hpp"

#include <algorithm>
#include <map>

namespace penstock::telemetry {

std::vector<HotKey> merge_hot_keys(const std::vector<HotKeyPage>& pages, std::size_t most) {
  struct Sum {
    HotKey key;
    std::uint64_t floors_met = 0;  // of the pages that it is on
  };
  std::map<std::string_view, Sum> sums;
  std::uint64_t floors = 0;
  for (const HotKeyPage& page : pages) {
    floors += page.floor;
    for (const HotKey& key : page.keys) {
      Sum& sum = sums[key.key];
      sum.key.count += key.count;
      sum.key.error += key.error;
      sum.floors_met += page.floor;
    }
  }
  std::vector<HotKey> merged;
  merged.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    // a page that it is not on may have seen it as often as its floor says
    const std::uint64_t unseen = floors - sum.floors_met;
    merged.push_back({.key = std::string(key),
                      .count = sum.key.count + unseen,
                      .error = sum.key.error + unseen});
  }
  std::stable_sort(merged.begin(), merged.end(), [](const HotKey& a, const HotKey& b) {
    // of two alike, the one that is known better
    return a.count != b.count ? a.count > b.count : a.error < b.error;
  });
  if (merged.size() > most) merged.resize(most);
  return merged;
}

void HotKeyBoard::publish(std::size_t worker, HotKind kind, HotKeyPage page) {
  const std::lock_guard lock(mutex_);
  std::vector<HotKeyPage>& pages = pages_[static_cast<std::size_t>(kind)];
  if (pages.size() <= worker) pages.resize(worker + 1);
  pages[worker] = std::move(page);
}

std::vector<HotKey> HotKeyBoard::top(HotKind kind, std::size_t most) const {
  std::vector<HotKeyPage> pages;
  {
    const std::lock_guard lock(mutex_);
    pages = pages_[static_cast<std::size_t>(kind)];
  }
  return merge_hot_keys(pages, most);
}

std::uint64_t HotKeys::weight(std::size_t kind) noexcept {
  if (noted_[kind] < kAllOfATick) {
    ++noted_[kind];
    return 1;
  }
  if (passed_over_ > 0) {
    --passed_over_;
    return 0;
  }
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  // not every eighth: limits of one request come in turns
  passed_over_ = static_cast<std::uint32_t>((random_ >> 32U) % (2 * kOneIn - 1));
  return kOneIn;
}

void HotKeys::note(HotKind kind, std::string_view rule, std::string_view subject) {
  const std::uint64_t times = weight(static_cast<std::size_t>(kind));
  if (times == 0) return;
  std::size_t size = rule.copy(key_.data(), key_.size() - 1);
  key_[size++] = ' ';
  size += subject.copy(key_.data() + size, key_.size() - size);
  counted_[static_cast<std::size_t>(kind)].add({key_.data(), size}, times);
}

void HotKeys::tick() {
  noted_ = {};
  const bool fades = ++ticks_ % kHalfLife == 0;
  for (std::size_t kind = 0; kind < kHotKinds; ++kind) {
    SpaceSaving& counted = counted_[kind];
    board_.publish(worker_, static_cast<HotKind>(kind),
                   {.keys = counted.keys(), .floor = counted.floor()});
    if (fades) counted.halve();
  }
}

}  // namespace penstock::telemetry
