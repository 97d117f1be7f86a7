#include "store/slot_array.hpp"

#include <sys/mman.h>

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

}  // namespace penstock::store
