#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>

namespace penstock::http2 {

// Memory of one session for the library: each stream allocates and frees a dozen small blocks, a
// hundred streams at a time. Freed small blocks are kept for reuse, up to kMaxRetained bytes.
//
// Thread-safety: none.
class BlockPool {
 public:
  static constexpr std::size_t kMaxRetained = std::size_t{64} << 10U;

  BlockPool();
  // REQUIRES: all blocks were freed.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // As malloc, free and realloc do it.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;
  void deallocate(void* content) noexcept;
  [[nodiscard]] void* reallocate(void* content, std::size_t size) noexcept;

  // Bytes that wait.
  [[nodiscard]] std::size_t retained() const noexcept { return retained_; }

  // For the library; valid as long as the pool.
  [[nodiscard]] nghttp2_mem* functions() noexcept { return &functions_; }

 private:
  struct Block;

  static constexpr std::size_t kStep = 64;  // sizes are rounded up to multiples of it
  static constexpr std::size_t kSizes = 16;

  std::array<Block*, kSizes> spare_{};  // of (place + 1) * kStep bytes each
  std::size_t retained_ = 0;
  nghttp2_mem functions_;
};

}  // namespace penstock::http2
