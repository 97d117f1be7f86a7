#pragma once

#include "store/hash128.hpp"

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

}  // namespace penstock::store
