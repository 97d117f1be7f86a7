#include "telemetry/space_saving.hpp"

#include "base/check.hpp"
#include "base/text_hash.hpp"

#include <bit>

namespace penstock::telemetry {

SpaceSaving::SpaceSaving(std::size_t counters)
    : most_(counters), entries_(std::bit_ceil(2 * counters)), mask_(entries_.size() - 1) {
  PENSTOCK_CHECK(counters > 0);
  counters_.reserve(counters);
  heap_.reserve(counters);
}

void SpaceSaving::add(std::string_view key, std::uint64_t times) {
  key = key.substr(0, kMaxKeyBytes);
  const auto hash = static_cast<std::uint32_t>(base::TextHash{}(key));
  if (const auto known = find(key, hash)) return increment(*known, times);
  if (counters_.size() < most_) return append(key, hash, times);
  const Index least = heap_.front().counter;
  erase(least);
  Counter& counter = counters_[least];
  counter.key = key;
  counter.hash = hash;
  counter.error = heap_.front().count;
  insert(least);
  increment(least, times);
}

void SpaceSaving::append(std::string_view key, std::uint32_t hash, std::uint64_t times) {
  const auto place = static_cast<Index>(counters_.size());
  counters_.push_back({.key = std::string(key), .hash = hash});
  heap_.emplace_back();
  std::size_t at = heap_.size() - 1;
  // A count of 0 belongs in front.
  while (at > 0 && heap_[(at - 1) / 2].count > 0) {
    put(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  put(at, {.count = 0, .counter = place});
  insert(place);
  increment(place, times);
}

std::optional<SpaceSaving::Index> SpaceSaving::find(std::string_view key,
                                                    std::uint32_t hash) const noexcept {
  for (std::size_t at = hash & mask_; entries_[at].counter != Entry::kFree; at = (at + 1) & mask_) {
    const Entry& entry = entries_[at];
    if (entry.hash == hash && counters_[entry.counter].key == key) return entry.counter;
  }
  return std::nullopt;
}

void SpaceSaving::insert(Index counter) noexcept {
  const std::uint32_t hash = counters_[counter].hash;
  std::size_t at = hash & mask_;
  while (entries_[at].counter != Entry::kFree) at = (at + 1) & mask_;
  entries_[at] = {.hash = hash, .counter = counter};
}

void SpaceSaving::erase(Index counter) noexcept {
  std::size_t at = counters_[counter].hash & mask_;
  while (entries_[at].counter != counter) at = (at + 1) & mask_;
  // Later entries of the probe sequence that the gap would hide move into it.
  for (std::size_t next = (at + 1) & mask_; entries_[next].counter != Entry::kFree;
       next = (next + 1) & mask_) {
    const std::size_t from_home = (next - entries_[next].hash) & mask_;
    if (from_home < ((next - at) & mask_)) continue;
    entries_[at] = entries_[next];
    at = next;
  }
  entries_[at] = {};
}

void SpaceSaving::put(std::size_t heap_index, Ranked ranked) noexcept {
  heap_[heap_index] = ranked;
  counters_[ranked.counter].heap_index = static_cast<Index>(heap_index);
}

void SpaceSaving::increment(Index counter, std::uint64_t times) noexcept {
  std::size_t at = counters_[counter].heap_index;
  const Ranked raised{.count = heap_[at].count + times, .counter = counter};
  while (true) {
    std::size_t below = 2 * at + 1;
    if (below >= heap_.size()) break;
    if (below + 1 < heap_.size() && heap_[below + 1].count < heap_[below].count) ++below;
    if (raised.count <= heap_[below].count) break;
    put(at, heap_[below]);
    at = below;
  }
  put(at, raised);
}

void SpaceSaving::halve() {
  // Halving preserves the heap order.
  for (Ranked& ranked : heap_) ranked.count /= 2;
  for (Counter& counter : counters_) counter.error /= 2;
}

std::vector<HotKey> SpaceSaving::keys() const {
  std::vector<HotKey> keys;
  keys.reserve(counters_.size());
  for (const Ranked& ranked : heap_) {
    if (ranked.count == 0) continue;
    const Counter& counter = counters_[ranked.counter];
    keys.push_back({.key = counter.key, .count = ranked.count, .error = counter.error});
  }
  return keys;
}

std::uint64_t SpaceSaving::floor() const noexcept {
  return counters_.size() < most_ ? 0 : heap_.front().count;
}

}  // namespace penstock::telemetry
