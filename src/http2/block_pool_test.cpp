#include "http2/block_pool.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

namespace penstock::http2 {
namespace {

// A block that is filled with one letter, to detect other writes to it.
struct Filled {
  char* bytes;
  std::size_t size;
  char letter;

  [[nodiscard]] bool is_whole() const {
    return std::all_of(bytes, bytes + size, [this](char byte) { return byte == letter; });
  }
};

Filled filled(void* block, std::size_t size, char letter) {
  std::memset(block, letter, size);
  return {.bytes = static_cast<char*>(block), .size = size, .letter = letter};
}

RC_GTEST_PROP(BlockPool, BlocksNeverOverlap, ()) {
  BlockPool pool;
  std::vector<Filled> held;
  const auto steps = *rc::gen::inRange(1, 400);
  for (int step = 0; step < steps; ++step) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 1500);
    const auto letter = static_cast<char>('a' + step % 26);
    const auto action = *rc::gen::inRange(0, 3);
    if (action == 0 || held.empty()) {
      held.push_back(filled(pool.allocate(size), size, letter));
    } else {
      const auto place = *rc::gen::inRange<std::size_t>(0, held.size());
      Filled& one = held[place];
      RC_ASSERT(one.is_whole());
      if (action == 1) {
        const std::size_t common = std::min(one.size, size);
        one.bytes = static_cast<char*>(pool.reallocate(one.bytes, size));
        one.size = common;
        RC_ASSERT(one.is_whole());
        one = filled(one.bytes, size, letter);
      } else {
        pool.deallocate(one.bytes);
        held.erase(std::next(held.begin(), static_cast<std::ptrdiff_t>(place)));
      }
    }
    RC_ASSERT(pool.retained() <= BlockPool::kMaxRetained);
  }
  for (const Filled& one : held) {
    RC_ASSERT(one.is_whole());
    pool.deallocate(one.bytes);
  }
}

TEST(BlockPool, ReusesTheSameBlock) {
  BlockPool pool;
  void* const first = pool.allocate(100);
  pool.deallocate(first);
  EXPECT_EQ(pool.retained(), 128U);
  EXPECT_EQ(pool.allocate(120), first);
  EXPECT_EQ(pool.retained(), 0U);
  pool.deallocate(first);
}

TEST(BlockPool, KeepsNoMoreThanItsLimitAndNothingLarge) {
  BlockPool pool;
  void* const large = pool.allocate(4096);
  pool.deallocate(large);
  EXPECT_EQ(pool.retained(), 0U);
  std::vector<void*> many;
  for (int i = 0; i < 1000; ++i) many.push_back(pool.allocate(1000));
  for (void* const block : many) pool.deallocate(block);
  EXPECT_EQ(pool.retained(), BlockPool::kMaxRetained);
}

TEST(BlockPool, CallocIsZeroedAlignedAndFailsOnOverflow) {
  BlockPool pool;
  const nghttp2_mem& functions = *pool.functions();
  void* const dirty = functions.malloc(200, functions.mem_user_data);
  std::memset(dirty, 'x', 200);
  functions.free(dirty, functions.mem_user_data);
  auto* const clean = static_cast<char*>(functions.calloc(50, 4, functions.mem_user_data));
  EXPECT_EQ(clean, dirty);
  EXPECT_TRUE(std::all_of(clean, clean + 200, [](char byte) { return byte == 0; }));
  void* aligned = clean;
  std::size_t room = 200;
  EXPECT_EQ(std::align(alignof(std::max_align_t), 200, aligned, room), clean);
  functions.free(clean, functions.mem_user_data);
  functions.free(nullptr, functions.mem_user_data);
  EXPECT_EQ(functions.calloc(SIZE_MAX / 2, 4, functions.mem_user_data), nullptr);
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace penstock::http2
