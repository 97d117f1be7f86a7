#pragma once

#include "base/wide.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::base {

// A hash for tables in memory: a few multiplications for short texts, with a random seed per
// process, so that clients cannot choose texts that collide. Where attackers have time, as for keys
// of a store, use store::KeyHasher.
class TextHash {
 public:
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name

  std::size_t operator()(std::string_view text) const noexcept {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t state = kSecret ^ left;
    for (; left > kBlock; left -= kBlock, at += kBlock) {
      state = mix(word<std::uint64_t>(at) ^ kOdd, word<std::uint64_t>(at + kBlock / 2) ^ state);
    }
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (left >= sizeof(std::uint64_t)) {
      first = word<std::uint64_t>(at);
      last = word<std::uint64_t>(at + left - sizeof(std::uint64_t));
    } else if (left >= sizeof(std::uint32_t)) {
      first = word<std::uint32_t>(at);
      last = word<std::uint32_t>(at + left - sizeof(std::uint32_t));
    } else if (left > 0) {
      first = static_cast<std::uint64_t>(word<std::uint8_t>(at)) << 8U |
              word<std::uint8_t>(at + left / 2);
      last = word<std::uint8_t>(at + left - 1);
    }
    return mix(mix(first ^ kOdd, last ^ state), kOdd);
  }

 private:
  static constexpr std::size_t kBlock = 16;
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio
  static const std::uint64_t kSecret;

  template <class Word>
  static Word word(const char* at) noexcept {
    Word value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
    const Wide product = Wide{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }
};

// String keys with lookup by string_view.
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace penstock::base
