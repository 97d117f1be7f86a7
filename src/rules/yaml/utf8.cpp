#include "rules/yaml/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace penstock::rules {
namespace {

// Length of a character with this first byte; 0: invalid.
std::size_t length_of_character(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// The second byte reveals overlong forms, surrogates and values above U+10FFFF.
bool may_follow(unsigned char first, unsigned char second) noexcept {
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
  if (first == 0xE0) least = 0xA0;
  if (first == 0xED) most = 0x9F;
  if (first == 0xF0) least = 0x90;
  if (first == 0xF4) most = 0x8F;
  return second >= least && second <= most;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = length_of_character(first);
    if (length == 0 || length > text.size()) return false;
    if (length > 1 && !may_follow(first, static_cast<unsigned char>(text[1]))) return false;
    for (std::size_t i = 2; i < length; ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace penstock::rules
