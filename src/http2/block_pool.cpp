#include "http2/block_pool.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace penstock::http2 {

// The header in front of the memory that the library gets.
struct alignas(std::max_align_t) BlockPool::Block {
  std::size_t size = 0;   // without this
  Block* next = nullptr;  // while it waits

  void* content() noexcept { return this + 1; }
  static Block* of(void* content) noexcept { return static_cast<Block*>(content) - 1; }
};

namespace {

BlockPool& pool_of(void* user) { return *static_cast<BlockPool*>(user); }

}  // namespace

BlockPool::BlockPool()
    : functions_{
          .mem_user_data = this,
          .malloc = [](std::size_t size, void* user) { return pool_of(user).allocate(size); },
          .free = [](void* block, void* user) { pool_of(user).deallocate(block); },
          .calloc = [](std::size_t count, std::size_t size, void* user) -> void* {
            if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) return nullptr;
            void* const block = pool_of(user).allocate(count * size);
            return block == nullptr ? nullptr : std::memset(block, 0, count * size);
          },
          .realloc = [](void* block, std::size_t size,
                        void* user) { return pool_of(user).reallocate(block, size); }} {}

BlockPool::~BlockPool() {
  for (Block* first : spare_) {
    while (first != nullptr) ::operator delete(std::exchange(first, first->next));
  }
}

void* BlockPool::allocate(std::size_t size) noexcept {
  const std::size_t place = size == 0 ? 0 : (size - 1) / kStep;
  if (place < kSizes && spare_[place] != nullptr) {
    Block* const block = std::exchange(spare_[place], spare_[place]->next);
    retained_ -= block->size;
    return block->content();
  }
  const std::size_t given = place < kSizes ? (place + 1) * kStep : size;
  if (given > std::numeric_limits<std::size_t>::max() - sizeof(Block)) return nullptr;
  void* const memory = ::operator new(sizeof(Block) + given, std::nothrow);
  return memory == nullptr ? nullptr : (new (memory) Block{.size = given})->content();
}

void BlockPool::deallocate(void* content) noexcept {
  if (content == nullptr) return;
  Block* const block = Block::of(content);
  if (block->size > kSizes * kStep || retained_ + block->size > kMaxRetained) {
    return ::operator delete(block);
  }
  Block*& first = spare_[block->size / kStep - 1];
  block->next = std::exchange(first, block);
  retained_ += block->size;
}

void* BlockPool::reallocate(void* content, std::size_t size) noexcept {
  if (content == nullptr) return allocate(size);
  const std::size_t had = Block::of(content)->size;
  if (size <= had) return content;
  void* const larger = allocate(size);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, content, had);
  deallocate(content);
  return larger;
}

}  // namespace penstock::http2
