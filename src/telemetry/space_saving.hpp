#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::telemetry {

// A frequent key: seen at most `count` times, and at least `count - error`.
struct HotKey {
  std::string key;
  std::uint64_t count = 0;
  std::uint64_t error = 0;
};

// The most frequent keys in bounded memory (Metwally, Agrawal, El Abbadi: Space-Saving). With m
// counters and n additions, every key seen more than n/m times is included, and no count is more
// than n/m too high. halve() ages all counts.
//
// On the path of every request, once per limit: a lookup probes one or two entries of a small
// table, most of which fits in the L1 cache.
//
// Thread-safety: none.
class SpaceSaving {
 public:
  // Longer keys are truncated; keys with an equal prefix then count as one.
  static constexpr std::size_t kMaxKeyBytes = 200;

  // REQUIRES: counters > 0
  explicit SpaceSaving(std::size_t counters);
  SpaceSaving(const SpaceSaving&) = delete;
  SpaceSaving& operator=(const SpaceSaving&) = delete;

  // Does not allocate once keys have reached their usual length.
  void add(std::string_view key, std::uint64_t times = 1);
  void halve();

  // All counted keys, unordered.
  [[nodiscard]] std::vector<HotKey> keys() const;
  // Upper bound for keys that are not counted.
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
  // One entry of the hash table.
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
  std::vector<Ranked> heap_;    // smallest count first
  std::vector<Entry> entries_;  // open addressing; at most half full
  std::size_t mask_;            // table size - 1
};

}  // namespace penstock::telemetry
