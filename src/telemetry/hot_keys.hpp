#pragma once

#include "penstock/clock.hpp"
#include "telemetry/denied_subjects.hpp"
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

// The counts of one worker at its last tick.
struct HotKeySnapshot {
  std::vector<HotKey> keys{};
  std::uint64_t floor = 0;  // upper bound for keys that are not listed
};

// Merges snapshots, busiest keys first. Counts stay upper bounds; errors bound the overestimate.
[[nodiscard]] std::vector<HotKey> merge_hot_keys(const std::vector<HotKeySnapshot>& snapshots,
                                                 std::size_t most);

// Collects the snapshots of all workers.
//
// Thread-safety: all members, from any thread.
class HotKeyRegistry {
 public:
  void publish(std::size_t worker, HotKeyKind kind, HotKeySnapshot snapshot);
  [[nodiscard]] std::vector<HotKey> top(HotKeyKind kind, std::size_t most) const;

  void publish(std::size_t worker, DeniedSnapshot snapshot);
  [[nodiscard]] std::vector<DeniedSnapshot> denied() const;

 private:
  mutable std::mutex mutex_;
  std::vector<DeniedSnapshot> denied_;                               // guarded by mutex_; by worker
  std::array<std::vector<HotKeySnapshot>, kHotKeyKinds> snapshots_;  // guarded by mutex_; by worker
};

// The keys of one worker that are requested and denied most often. Counts are halved every
// kHalfLife ticks: a key with r requests per tick has a count between 10 r and 20 r. Beyond
// kUnsampledPerTick this holds on average: one in kSampleEvery, chosen at random, is counted with
// that weight.
//
// Thread-safety: none; only tick() publishes to other threads.
class HotKeys {
 public:
  static constexpr std::size_t kCounters = 512;
  static constexpr unsigned kHalfLife = 10;
  static constexpr std::uint32_t kUnsampledPerTick = 2'000;
  static constexpr std::uint32_t kSampleEvery = 8;

  // REQUIRES: the registry and the clock outlive it.
  HotKeys(HotKeyRegistry& registry, std::size_t worker, const Clock& clock = system_clock())
      : registry_(registry), worker_(worker), clock_(clock) {
    denied_.tick(clock.now());
  }

  // Shown as "rule subject".
  void note(HotKeyKind kind, std::string_view rule, std::string_view subject);
  // Call once per second on the worker's event loop.
  void tick();

 private:
  // Weight of the next note; 0 to skip it.
  [[nodiscard]] std::uint64_t weight(std::size_t kind) noexcept;

  HotKeyRegistry& registry_;
  std::size_t worker_;
  const Clock& clock_;
  std::array<std::uint32_t, kHotKeyKinds> noted_{};  // in this tick, up to kUnsampledPerTick
  std::uint32_t skips_left_ = 0;                     // until the next sample
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;       // xorshift64: need not be unpredictable
  std::array<SpaceSaving, kHotKeyKinds> counted_{SpaceSaving{kCounters}, SpaceSaving{kCounters}};
  DeniedSubjects denied_;
  std::array<char, SpaceSaving::kMaxKeyBytes> key_{};  // truncated
  unsigned ticks_ = 0;
};

}  // namespace penstock::telemetry
