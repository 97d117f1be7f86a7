#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
// Every request comes by here, once for each of its limits: a key is found by a look at one or two
// places of a small table, and most of what is looked at fits the nearest cache.
//
// Thread-safety: none.
class SpaceSaving {
 public:
  // What is longer is cut off; those that begin alike then count as one.
  static constexpr std::size_t kMaxKeyBytes = 200;

  // REQUIRES: counters > 0
  explicit SpaceSaving(std::size_t counters);
  SpaceSaving(const SpaceSaving&) = delete;
  SpaceSaving& operator=(const SpaceSaving&) = delete;

  // Allocates nothing once the keys have their usual length.
  void add(std::string_view key, std::uint64_t times = 1);
  void halve();

  // All that are counted, in no order.
  [[nodiscard]] std::vector<HotKey> keys() const;
  // The most that a key which is not among them was seen.
  [[nodiscard]] std::uint64_t floor() const noexcept;

 private:
  using Index = std::uint32_t;
  struct Counter {
    std::string key;
    std::uint64_t error = 0;
    Index heap_index = 0;
    std::uint32_t hash = 0;
  };
  struct Ranked {
    std::uint64_t count = 0;
    Index counter = 0;
  };
  // One place of the table of keys.
  struct Entry {
    static constexpr Index kFree = ~Index{0};
    std::uint32_t hash = 0;
    Index counter = kFree;
  };

  [[nodiscard]] std::optional<Index> find(std::string_view key, std::uint32_t hash) const noexcept;
  void insert(Index counter) noexcept;
  void erase(Index counter) noexcept;
  void append(std::string_view key, std::uint32_t hash, std::uint64_t times);
  void increment(Index counter, std::uint64_t times) noexcept;
  void put(std::size_t heap_index, Ranked ranked) noexcept;

  std::size_t most_;
  std::vector<Counter> counters_;
  std::vector<Ranked> heap_;    // the least count in front
  std::vector<Entry> entries_;  // by hash, else in the next free place; never more than half full
  std::size_t mask_;            // of places in it
};

}  // namespace penstock::telemetry
