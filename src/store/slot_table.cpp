#include "store/slot_table.hpp"

#include "base/check.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace penstock::store {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;
constexpr std::size_t kLine = 64;

// Below a huge page the heap serves as well.
bool is_mapped(std::size_t bytes) { return bytes >= kHugePage; }

// Aligned to a huge page, not rounded up to one: what is behind the last whole huge page stays on
// small pages, so no memory is lost to rounding.
void* map_pages(std::size_t bytes) {
  const std::size_t with_slack = bytes + kHugePage;
  void* mapped =
      mmap(nullptr, with_slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* start = static_cast<char*>(mapped);
  void* aligned = start;
  std::size_t space = with_slack;
  std::align(kHugePage, bytes, aligned, space);
  char* first = static_cast<char*>(aligned);
  if (first != start) munmap(start, static_cast<std::size_t>(first - start));
  // munmap wants whole pages; the kernel rounds the length of the mapping up the same way
  constexpr std::size_t kSmallPage = 4096;
  const std::size_t kept = (bytes + kSmallPage - 1) / kSmallPage * kSmallPage;
  char* end = start + (with_slack + kSmallPage - 1) / kSmallPage * kSmallPage;
  if (first + kept < end) munmap(first + kept, static_cast<std::size_t>(end - (first + kept)));
  madvise(first, kept, MADV_HUGEPAGE);
  return first;
}

constexpr std::size_t kSmallest = 16;
// Sizes grow as (first + 64) * 1.25^n - 64: first sizes from 16 to 35 spread over one whole step.
constexpr std::size_t kFirstSizes = 20;
// Between resizes the table is 68 % to 85 % full: 37 to 47 bytes per key.
constexpr std::size_t kFullPercent = 85;
constexpr std::size_t kGrowthPercent = 125;
// At least 100 / (0.25 * 85) slots per insertion are needed to be done before the next resize; with
// these a table that only grows has two arrays for a fiftieth of its time.
constexpr std::size_t kDrainPerStep = 256;

std::size_t next(std::size_t index, std::size_t size) { return index + 1 == size ? 0 : index + 1; }

}  // namespace

SlotArray SlotArray::allocate(std::size_t size) noexcept {
  SlotArray array;
  const std::size_t bytes = size * sizeof(Slot);
  void* memory = is_mapped(bytes) ? map_pages(bytes)
                                  : std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
  if (memory == nullptr) return array;
  // fresh pages are zero already and better left untouched until used
  array.slots_ = is_mapped(bytes) ? static_cast<Slot*>(memory) : new (memory) Slot[size]();
  array.size_ = size;
  return array;
}

SlotArray::SlotArray(SlotArray&& other) noexcept
    : slots_(std::exchange(other.slots_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SlotArray& SlotArray::operator=(SlotArray&& other) noexcept {
  std::swap(slots_, other.slots_);
  std::swap(size_, other.size_);
  return *this;
}

SlotArray::~SlotArray() {
  if (slots_ == nullptr) return;
  if (is_mapped(bytes())) {
    munmap(slots_, bytes());
  } else {
    std::free(slots_);
  }
}

SlotTable::SlotTable(std::size_t index, std::size_t tables)
    : current_(SlotArray::allocate(kSmallest + index * kFirstSizes / tables)) {
  PENSTOCK_CHECK(current_.size() > 0);
  publish_hint();
}

Slot* SlotTable::claim(SlotArray& array, const Hash128& hash) noexcept {
  const std::size_t size = array.size();
  std::size_t index = home_in(hash, size);
  std::size_t distance = 0;
  // behind all that are at least as far from home
  while (!array[index].is_empty() && distance_from_home(array, index) >= distance) {
    index = next(index, size);
    ++distance;
  }
  // the others move up by one, into the first gap
  Slot moving{.hash = hash};
  for (std::size_t at = index;; at = next(at, size)) {
    std::swap(array[at], moving);
    if (moving.is_empty()) return &array[index];
  }
}

Slot* SlotTable::find_draining(const Hash128& hash) noexcept {
  return is_drained(home_in(hash, draining_.size())) ? nullptr : probe(draining_, hash);
}

Slot* SlotTable::insert(const Hash128& hash) noexcept {
  PENSTOCK_DCHECK(!is_full());
  if (draining_.size() == 0 && (size_ + 1) * 100 > current_.size() * kFullPercent) {
    resize_to(current_.size() * kGrowthPercent / 100 + kSmallest);
  }
  ++size_;
  return claim(current_, hash);
}

void SlotTable::erase(Slot* slot) noexcept {
  SlotArray& array = owns(current_, slot) ? current_ : draining_;
  erase_from(array, static_cast<std::size_t>(slot - array.data()));
  --size_;
}

void SlotTable::erase_from(SlotArray& array, std::size_t index) noexcept {
  const std::size_t size = array.size();
  std::size_t gap = index;
  // neighbours move down by one, up to the first that is at home or a gap
  for (std::size_t other = next(gap, size);
       !array[other].is_empty() && distance_from_home(array, other) > 0;
       other = next(other, size)) {
    array[gap] = array[other];
    gap = other;
  }
  array[gap] = Slot{};
}

std::size_t SlotTable::distance_from_home(const SlotArray& array, std::size_t index) noexcept {
  const std::size_t home = home_in(array[index].hash, array.size());
  return index >= home ? index - home : index + array.size() - home;
}

bool SlotTable::is_drained(std::size_t old_home) const noexcept {
  const std::size_t distance = old_home >= drain_start_
                                   ? old_home - drain_start_
                                   : old_home + draining_.size() - drain_start_;
  return distance < drained_;
}

bool SlotTable::owns(const SlotArray& array, const Slot* slot) noexcept {
  return array.size() > 0 && slot >= array.data() && slot < array.data() + array.size();
}

void SlotTable::resize_to(std::size_t slots) noexcept {
  SlotArray enlarged = SlotArray::allocate(slots);
  if (enlarged.size() == 0) return;  // go on with what there is; is_full() tells when that ends
  draining_ = std::move(current_);
  current_ = std::move(enlarged);
  drain_start_ = 0;
  while (!draining_[drain_start_].is_empty()) ++drain_start_;
  drained_ = 0;
  ++resizes_;
  publish_hint();
}

void SlotTable::drain_some() noexcept {
  const std::size_t size = draining_.size();
  std::size_t moved = 0;
  while (drained_ < size) {
    const std::size_t index = (drain_start_ + drained_) % size;
    Slot& slot = draining_[index];
    const bool between_runs = slot.is_empty();
    if (!between_runs) {
      *claim(current_, slot.hash) = slot;
      slot = Slot{};
    }
    ++drained_;
    if (++moved >= kDrainPerStep && between_runs) return;
  }
  draining_ = SlotArray{};
}

void SlotTable::shrink_if_sparse() noexcept {
  // A sixteenth of the old size leaves room for what is inserted while the old array drains.
  const std::size_t wanted = size_ * 3 / 2 + current_.size() / 16 + kSmallest;
  if (draining_.size() == 0 && wanted * 2 < current_.size()) resize_to(wanted);
}

Slot* SlotTable::occupied_from(std::size_t position) noexcept {
  PENSTOCK_DCHECK(size_ > 0);
  const std::size_t total = positions();
  for (position %= total;; position = next(position, total)) {
    if (Slot* slot = at_position(position)) return slot;
  }
}

std::size_t SlotTable::position_of(const Slot* slot) const noexcept {
  if (owns(current_, slot)) return static_cast<std::size_t>(slot - current_.data());
  return current_.size() + static_cast<std::size_t>(slot - draining_.data());
}

Slot* SlotTable::at_position(std::size_t position) noexcept {
  Slot& slot =
      position < current_.size() ? current_[position] : draining_[position - current_.size()];
  return slot.is_empty() ? nullptr : &slot;
}

void SlotTable::publish_hint() noexcept {
  // relaxed: see prefetch()
  hint_base_.store(current_.data(), std::memory_order_relaxed);
  hint_size_.store(current_.size(), std::memory_order_relaxed);
}

}  // namespace penstock::store
