#include "telemetry/space_saving.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace penstock::telemetry {

SpaceSaving::SpaceSaving(std::size_t counters) : most_(counters) {
  PENSTOCK_CHECK(counters > 0);
  counters_.reserve(counters);
  heap_.reserve(counters);
  places_.reserve(counters);
}

void SpaceSaving::add(std::string_view key) {
  key = key.substr(0, kLongestKey);
  if (const auto known = places_.find(key); known != places_.end()) {
    return raise(counters_[known->second]);
  }
  if (counters_.size() < most_) {
    const auto place = static_cast<Place>(counters_.size());
    counters_.push_back({.key = std::string(key)});
    heap_.push_back(place);
    put(heap_.size() - 1, place);
    // nothing counts less than nothing: it belongs in front
    for (std::size_t at = heap_.size() - 1; at > 0; at = (at - 1) / 2) {
      const Place above = heap_[(at - 1) / 2];
      if (counters_[above].count == 0) break;
      put(at, above);
      put((at - 1) / 2, place);
    }
    places_.emplace(counters_.back().key, place);
    return raise(counters_.back());
  }
  Counter& least = counters_[heap_.front()];
  auto node = places_.extract(least.key);
  least.key = key;
  least.error = least.count;
  node.key() = least.key;
  places_.insert(std::move(node));
  raise(least);
}

void SpaceSaving::put(std::size_t heap_place, Place counter) noexcept {
  heap_[heap_place] = counter;
  counters_[counter].in_heap = static_cast<Place>(heap_place);
}

void SpaceSaving::raise(Counter& counter) {
  ++counter.count;
  const Place moved = heap_[counter.in_heap];
  std::size_t at = counter.in_heap;
  while (true) {
    std::size_t below = 2 * at + 1;
    if (below >= heap_.size()) break;
    if (below + 1 < heap_.size() && count_at(below + 1) < count_at(below)) ++below;
    if (counter.count <= count_at(below)) break;
    put(at, heap_[below]);
    at = below;
  }
  put(at, moved);
}

void SpaceSaving::halve() {
  // the order stays as it is
  for (Counter& counter : counters_) {
    counter.count /= 2;
    counter.error /= 2;
  }
}

std::vector<HotKey> SpaceSaving::keys() const {
  std::vector<HotKey> keys;
  keys.reserve(counters_.size());
  for (const Counter& counter : counters_) {
    if (counter.count == 0) continue;
    keys.push_back({.key = counter.key, .count = counter.count, .error = counter.error});
  }
  return keys;
}

std::uint64_t SpaceSaving::floor() const noexcept {
  return counters_.size() < most_ ? 0 : count_at(0);
}

}  // namespace penstock::telemetry
