#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::telemetry {

// A key that was seen often: at most `count` times, and at least `count - error`.
struct HotKey {
  std::string key;
  std::uint64_t count = 0;
  std::uint64_t error = 0;
};

// The keys seen most often, in bounded memory (Metwally, Agrawal, El Abbadi: Space-Saving). With m
// counters and n additions, every key seen more than n/m times is among them, and no count is more
// than n/m too high. halve() forgets half of everything, so that old fame fades.
//
// Thread-safety: none.
class SpaceSaving {
 public:
  // What is longer is cut off; those that begin alike then count as one.
  static constexpr std::size_t kLongestKey = 200;

  // REQUIRES: counters > 0
  explicit SpaceSaving(std::size_t counters);
  SpaceSaving(const SpaceSaving&) = delete;
  SpaceSaving& operator=(const SpaceSaving&) = delete;

  // Allocates nothing once the keys have their usual length.
  void add(std::string_view key);
  void halve();

  // All that are counted, in no order.
  [[nodiscard]] std::vector<HotKey> keys() const;
  // The most that a key which is not among them was seen.
  [[nodiscard]] std::uint64_t floor() const noexcept;

 private:
  using Place = std::uint32_t;
  struct Counter {
    std::string key;
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    Place in_heap = 0;
  };

  void raise(Counter& counter);
  [[nodiscard]] std::uint64_t count_at(std::size_t heap_place) const noexcept {
    return counters_[heap_[heap_place]].count;
  }
  void put(std::size_t heap_place, Place counter) noexcept;

  std::size_t most_;
  std::vector<Counter> counters_;  // never moved: the map looks at their keys
  std::vector<Place> heap_;        // of counters; the least count in front
  std::unordered_map<std::string_view, Place> places_;
};

}  // namespace penstock::telemetry
