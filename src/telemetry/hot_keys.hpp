#pragma once

#include "telemetry/space_saving.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::telemetry {

enum class HotKeyKind : std::uint8_t { Requested, Denied };
inline constexpr std::size_t kHotKeyKinds = 2;

// What one worker has counted, as it was a moment ago.
struct HotKeySnapshot {
  std::vector<HotKey> keys{};
  std::uint64_t floor = 0;  // the most that a key which is not here can have
};

// The busiest keys of all pages, the busiest first. Counts stay upper bounds, and errors say by how
// much they can be too high.
[[nodiscard]] std::vector<HotKey> merge_hot_keys(const std::vector<HotKeySnapshot>& snapshots,
                                                 std::size_t most);

// Where workers leave their pages for whoever wants to look.
//
// Thread-safety: all members, from any thread.
class HotKeyRegistry {
 public:
  void publish(std::size_t worker, HotKeyKind kind, HotKeySnapshot snapshot);
  [[nodiscard]] std::vector<HotKey> top(HotKeyKind kind, std::size_t most) const;

 private:
  mutable std::mutex mutex_;
  std::array<std::vector<HotKeySnapshot>, kHotKeyKinds> snapshots_;  // guarded by mutex_; by worker
};

// The busiest keys of one worker, and those refused most often. Counts are halved every kHalfLife
// ticks: a key that is asked for r times a tick has a count between 10 r and 20 r. Of a busy worker
// that is true on average: beyond kUnsampledPerTick one in kSampleEvery, drawn at random, counts
// for so many.
//
// Thread-safety: none; tick() is the only one that others notice.
class HotKeys {
 public:
  static constexpr std::size_t kCounters = 512;
  static constexpr unsigned kHalfLife = 10;
  static constexpr std::uint32_t kUnsampledPerTick = 2'000;
  static constexpr std::uint32_t kSampleEvery = 8;

  // REQUIRES: the board outlives it.
  HotKeys(HotKeyRegistry& board, std::size_t worker) : registry_(board), worker_(worker) {}

  // Shown as "rule subject".
  void note(HotKeyKind kind, std::string_view rule, std::string_view subject);
  // Once a second, on the event loop of the worker.
  void tick();

 private:
  // How often what is noted now counts.
  [[nodiscard]] std::uint64_t weight(std::size_t kind) noexcept;

  HotKeyRegistry& registry_;
  std::size_t worker_;
  std::array<std::uint32_t, kHotKeyKinds> noted_{};  // of this tick, up to kUnsampledPerTick
  std::uint32_t skips_left_ = 0;                     // still, until the next is counted
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;       // xorshift64: nobody gains by guessing it
  std::array<SpaceSaving, kHotKeyKinds> counted_{SpaceSaving{kCounters}, SpaceSaving{kCounters}};
  std::array<char, SpaceSaving::kMaxKeyBytes> key_{};  // as much of it as is looked at
  unsigned ticks_ = 0;
};

}  // namespace penstock::telemetry
