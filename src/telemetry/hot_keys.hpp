#pragma once

#include "telemetry/space_saving.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::telemetry {

enum class HotKind : std::uint8_t { Asked, Denied };
inline constexpr std::size_t kHotKinds = 2;

// What one worker has counted, as it was a moment ago.
struct HotKeyPage {
  std::vector<HotKey> keys{};
  std::uint64_t floor = 0;  // the most that a key which is not here can have
};

// The busiest keys of all pages, the busiest first. Counts stay upper bounds, and errors say by how
// much they can be too high.
[[nodiscard]] std::vector<HotKey> merge_hot_keys(const std::vector<HotKeyPage>& pages,
                                                 std::size_t most);

// Where workers leave their pages for whoever wants to look.
//
// Thread-safety: all members, from any thread.
class HotKeyBoard {
 public:
  void publish(std::size_t worker, HotKind kind, HotKeyPage page);
  [[nodiscard]] std::vector<HotKey> top(HotKind kind, std::size_t most) const;

 private:
  mutable std::mutex mutex_;
  std::array<std::vector<HotKeyPage>, kHotKinds> pages_;  // guarded by mutex_; by worker
};

// The busiest keys of one worker, and those refused most often. Counts are halved every kHalfLife
// ticks: a key that is asked for r times a tick has a count between 10 r and 20 r. Of a busy worker
// that is true on average: beyond kAllOfATick one in kOneIn, drawn at random, counts for so many.
//
// Thread-safety: none; tick() is the only one that others notice.
class HotKeys {
 public:
  static constexpr std::size_t kCounters = 512;
  static constexpr unsigned kHalfLife = 10;
  static constexpr std::uint32_t kAllOfATick = 2'000;
  static constexpr std::uint32_t kOneIn = 8;

  // REQUIRES: the board outlives it.
  HotKeys(HotKeyBoard& board, std::size_t worker) : board_(board), worker_(worker) {}

  // Shown as "rule subject".
  void note(HotKind kind, std::string_view rule, std::string_view subject);
  // Once a second, on the event loop of the worker.
  void tick();

 private:
  // How often what is noted now counts.
  [[nodiscard]] std::uint64_t weight(std::size_t kind) noexcept;

  HotKeyBoard& board_;
  std::size_t worker_;
  std::array<std::uint32_t, kHotKinds> noted_{};  // of this tick, up to kAllOfATick
  std::uint32_t passed_over_ = 0;                 // still, until the next is counted
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;    // xorshift64: nobody gains by guessing it
  std::array<SpaceSaving, kHotKinds> counted_{SpaceSaving{kCounters}, SpaceSaving{kCounters}};
  std::array<char, SpaceSaving::kLongestKey> key_{};  // as much of it as is looked at
  unsigned ticks_ = 0;
};

}  // namespace penstock::telemetry
