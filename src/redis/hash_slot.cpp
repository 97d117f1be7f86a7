#include "redis/hash_slot.hpp"

#include <array>

namespace penstock::redis {
namespace {

constexpr std::array<std::uint16_t, 256> kCrcOfByte = [] {
  constexpr std::uint16_t kPolynomial = 0x1021;
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<std::uint16_t>(byte << 8U);
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (crc & 0x8000U) != 0;
      crc = static_cast<std::uint16_t>((unsigned{crc} << 1U) ^ (carry ? kPolynomial : 0U));
    }
    table[byte] = crc;
  }
  return table;
}();

}  // namespace

std::string_view hash_tag(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::uint16_t hash_slot(std::string_view key) noexcept {
  std::uint16_t crc = 0;
  for (const char character : hash_tag(key)) {
    const auto index =
        static_cast<std::uint8_t>((crc >> 8U) ^ static_cast<std::uint8_t>(character));
    crc = static_cast<std::uint16_t>((crc << 8U) ^ kCrcOfByte[index]);
  }
  return crc % kHashSlots;
}

}  // namespace penstock::redis
