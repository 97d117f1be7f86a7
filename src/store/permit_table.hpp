#pragma once

#include "core/permit_set.hpp"
#include "penstock/clock.hpp"
#include "penstock/result.hpp"
#include "store/stores.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace penstock::store {

// The permits of the memory store. Bounded: beyond this many bytes a new permit is an error; those
// that are over are swept a few at a time, and all of them before a permit is denied, once a
// second at most.
//
// Thread-safety: all members, from any thread.
class PermitTable {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  explicit PermitTable(const Clock& clock, std::size_t max_bytes = kMaxBytes) noexcept
      : clock_(clock), max_bytes_(max_bytes) {}

  [[nodiscard]] Result<core::PermitResult> acquire(const PermitName& permit, std::uint32_t limit,
                                                   Duration lasts);
  [[nodiscard]] core::PermitResult renew(const PermitName& permit, Duration lasts);
  bool release(const PermitName& permit);

  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Part {
    std::mutex mutex;
    // Guarded by mutex:
    std::map<std::string, core::PermitSet, std::less<>> keys;
    std::string swept_to;
    Instant latest{};  // time never runs backwards in a part
  };

  [[nodiscard]] Part& part_of(std::string_view key);
  // Does something with the permits of a key and keeps account of the bytes. REQUIRES: locked.
  template <class Do>
  auto with_permits(Part& part, const std::string& key, const Do& action);
  static void sweep_some(Part& part, Instant now, std::atomic<std::size_t>& bytes);
  void sweep_all();
  // Whether the caller sweeps all permits: one does, once a second.
  [[nodiscard]] bool is_time_to_sweep() noexcept;

  const Clock& clock_;
  std::size_t max_bytes_;
  // relaxed: only a bound for new permits
  std::atomic<std::size_t> bytes_{0};
  // relaxed: it guards nothing
  std::atomic<Instant> next_sweep_{Instant::min()};
  std::array<Part, 16> parts_;
};

}  // namespace penstock::store
