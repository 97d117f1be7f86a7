#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace penstock::fuzz {

inline void check(bool holds) {
  if (!holds) std::abort();
}

// A fuzzer input: the first byte is the portion size, the rest is the data.
struct Input {
  std::string_view bytes;
  std::size_t portion;
};

// REQUIRES: size > 0.
inline Input input_of(const std::uint8_t* data, std::size_t size) {
  return {.bytes = {static_cast<const char*>(static_cast<const void*>(data + 1)), size - 1},
          .portion = std::size_t{data[0]} + 1};
}

// Passes the bytes in portions. `take` returns how many it consumed, or 0 to stop.
template <class Take>
void feed(Input input, Take take) {
  while (!input.bytes.empty()) {
    const std::size_t taken = take(input.bytes.substr(0, input.portion));
    if (taken == 0) return;
    input.bytes.remove_prefix(taken);
  }
}

// Copies as much as fits to a reader and returns the number of bytes.
template <class Reader>
std::size_t fill(Reader& reader, std::string_view bytes) {
  const auto room = reader.prepare();
  check(!room.empty());
  const std::size_t size = std::min(bytes.size(), room.size());
  std::copy_n(bytes.begin(), size, room.begin());
  reader.commit(size);
  return size;
}

// Checks that `read(input)` gives the same result in portions as in the whole.
template <class Read>
void check_portions(const Input& input, Read read) {
  check(read(Input{.bytes = input.bytes, .portion = input.bytes.size()}) == read(input));
}

}  // namespace penstock::fuzz
