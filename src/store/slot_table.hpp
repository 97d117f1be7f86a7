#pragma once

#include "store/hash128.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace penstock::store {

// One key in 32 bytes: its hash, and two words that slot_codec.hpp defines. All zero is an
// empty slot; no hash is all zero in practice, and KeyHasher's secret keeps it so.
struct Slot {
  Hash128 hash;
  std::uint64_t word0 = 0;
  std::uint64_t word1 = 0;

  [[nodiscard]] bool is_empty() const noexcept { return (hash.high | hash.low) == 0; }
};
static_assert(sizeof(Slot) == 32);

// A fixed number of zeroed slots. Large arrays come straight from the system, on huge pages where
// it has them: with four-kilobyte pages every lookup in a large table also misses the TLB.
class SlotArray {
 public:
  SlotArray() = default;
  // Empty when the system has no memory left.
  [[nodiscard]] static SlotArray allocate(std::size_t size) noexcept;
  SlotArray(SlotArray&& other) noexcept;
  SlotArray& operator=(SlotArray&& other) noexcept;
  ~SlotArray();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(Slot); }
  [[nodiscard]] Slot* data() noexcept { return slots_; }
  [[nodiscard]] const Slot* data() const noexcept { return slots_; }
  [[nodiscard]] Slot& operator[](std::size_t index) noexcept { return slots_[index]; }
  [[nodiscard]] const Slot& operator[](std::size_t index) const noexcept { return slots_[index]; }

 private:
  Slot* slots_ = nullptr;
  std::size_t size_ = 0;
};

// An open-addressing table of slots: linear probing from a home that the hash names, neighbours in
// the order of their homes so that none is far from its own (Robin Hood hashing). A lookup costs
// one cache miss and a neighbour. It grows by a quarter at a time and moves its slots over a few at
// every call of advance(), so no caller ever waits for a rehash. Erasing closes the gap; there are
// no tombstones.
//
// Thread-safety: guarded by its owner's lock, but for prefetch().
class SlotTable {
 public:
  // One of several tables that fill up at the same rate. Each starts with another size, so that
  // they do not all grow at the same time later.
  explicit SlotTable(std::size_t index = 0, std::size_t tables = 1);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return current_.bytes() + draining_.bytes(); }
  [[nodiscard]] std::uint64_t resizes() const noexcept { return resizes_; }
  // No room for another slot: the system gave no memory to grow.
  [[nodiscard]] bool is_full() const noexcept { return size_ + 1 >= current_.size(); }

  // Null when absent.
  [[nodiscard]] Slot* find(const Hash128& hash) noexcept {
    if (draining_.size() > 0) [[unlikely]] {
      if (Slot* slot = find_draining(hash)) return slot;
    }
    return probe(current_, hash);
  }

  // An empty slot for a hash that is absent. Pointers to other slots are void afterwards.
  // REQUIRES: !is_full().
  [[nodiscard]] Slot* insert(const Hash128& hash) noexcept;

  // Pointers to other slots are void afterwards.
  void erase(Slot* slot) noexcept;

  [[nodiscard]] bool is_resizing() const noexcept { return draining_.size() > 0; }
  // Does its share of a resize in progress. Pointers to slots are void afterwards.
  void advance() noexcept {
    if (draining_.size() > 0) [[unlikely]] {
      drain_some();
    }
  }

  // Starts to shrink when most of the memory is unused.
  void shrink_if_sparse() noexcept;

  // The occupied slot at or after a position, cyclically; positions count through both arrays.
  // REQUIRES: size() > 0.
  [[nodiscard]] Slot* occupied_from(std::size_t position) noexcept;
  [[nodiscard]] std::size_t positions() const noexcept {
    return current_.size() + draining_.size();
  }
  [[nodiscard]] std::size_t position_of(const Slot* slot) const noexcept;
  // Null when the slot at this position is empty.
  [[nodiscard]] Slot* at_position(std::size_t position) noexcept;

  // Starts loading the cache lines where this hash is likely to be. Callable without the lock.
  void prefetch(const Hash128& hash) const noexcept {
    // relaxed: a stale address only loads an unused line
    const Slot* base = hint_base_.load(std::memory_order_relaxed);
    const std::size_t size = hint_size_.load(std::memory_order_relaxed);
    const Slot* home = base + home_in(hash, size);
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 2, 1);
  }

 private:
  static std::size_t home_in(const Hash128& hash, std::size_t size) noexcept {
    return static_cast<std::size_t>(((hash.low >> 32U) * std::uint64_t{size}) >> 32U);
  }
  [[nodiscard]] static Slot* probe(SlotArray& array, const Hash128& hash) noexcept {
    Slot* const first = array.data();
    Slot* const end = first + array.size();
    for (Slot* slot = first + home_in(hash, array.size()); !slot->is_empty();) {
      if (slot->hash == hash) return slot;
      if (++slot == end) slot = first;
    }
    return nullptr;
  }
  [[nodiscard]] Slot* find_draining(const Hash128& hash) noexcept;
  [[nodiscard]] static Slot* claim(SlotArray& array, const Hash128& hash) noexcept;
  [[nodiscard]] static std::size_t distance_from_home(const SlotArray& array,
                                                      std::size_t index) noexcept;
  static void erase_from(SlotArray& array, std::size_t index) noexcept;

  [[nodiscard]] bool is_drained(std::size_t old_home) const noexcept;
  [[nodiscard]] static bool owns(const SlotArray& array, const Slot* slot) noexcept;
  void resize_to(std::size_t slots) noexcept;
  void drain_some() noexcept;
  void publish_hint() noexcept;

  SlotArray current_;
  // While resizing: the old array, emptied run by run in index order from drain_start_, a position
  // that follows an empty slot, so no run of neighbours is ever split between the arrays.
  SlotArray draining_;
  std::size_t size_ = 0;  // in both arrays
  std::size_t drain_start_ = 0;
  std::size_t drained_ = 0;

  // Copies of current_'s address and size for prefetch().
  std::atomic<const Slot*> hint_base_{nullptr};
  std::atomic<std::size_t> hint_size_{0};

  std::uint64_t resizes_ = 0;
};

}  // namespace penstock::store
