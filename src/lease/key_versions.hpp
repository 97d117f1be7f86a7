#pragma once

#include "store/hash128.hpp"
#include "store/key_hasher.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::lease {

// A version per key, which goes up when this node charges or changes the key in the shared store.
// What one worker remembers of a key holds only as long as the version stays: another worker may
// have charged it. All workers of a node share one, and hash keys by its secret.
//
// Keys that meet in one slot share a version: then one of them is asked about again in vain. With
// 100 000 charges a second that happens to a key every three seconds.
//
// Thread-safety: all members, from any thread.
class KeyVersions {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 18U;

  KeyVersions() : slots_(kSlots) {}

  [[nodiscard]] const store::KeyHasher& hasher() const noexcept { return hasher_; }

  // acquire and release: an answer that a client has got is known to the worker it asks next
  [[nodiscard]] std::uint32_t of(const store::Hash128& key) const noexcept {
    return slots_[slot_of(key)].load(std::memory_order_acquire);
  }
  // Returns the version before.
  std::uint32_t advance(const store::Hash128& key) noexcept {
    return slots_[slot_of(key)].fetch_add(1, std::memory_order_acq_rel);
  }

 private:
  [[nodiscard]] static std::size_t slot_of(const store::Hash128& key) noexcept {
    return key.low & (kSlots - 1);
  }

  store::KeyHasher hasher_{store::KeyHasher::random_secret()};
  std::vector<std::atomic<std::uint32_t>> slots_;
};

}  // namespace penstock::lease
