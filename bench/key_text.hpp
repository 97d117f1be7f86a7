#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace penstock::bench {

// "account:0012abcd": a key of realistic length, written in a few instructions. The digits are one
// store of eight bytes: processors cannot forward several small stores to the load of the hash.
class KeyText {
 public:
  KeyText() noexcept { std::memcpy(text_.data(), "account:", kPrefix); }

  std::string_view write(std::uint32_t number) noexcept {
    const std::uint64_t digits = kPairs[number >> 24U] | (kPairs[(number >> 16U) & 0xffU] << 16U) |
                                 (kPairs[(number >> 8U) & 0xffU] << 32U) |
                                 (kPairs[number & 0xffU] << 48U);
    std::memcpy(text_.data() + kPrefix, &digits, sizeof(digits));
    return {text_.data(), text_.size()};
  }

 private:
  static constexpr std::size_t kPrefix = 8;
  // The two hexadecimal digits of a byte, the first in the lower half.
  static constexpr std::array<std::uint64_t, 256> kPairs = [] {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<std::uint64_t, 256> pairs{};
    for (std::size_t value = 0; value < pairs.size(); ++value) {
      const auto first = static_cast<unsigned char>(kDigits[value >> 4U]);
      const auto second = static_cast<unsigned char>(kDigits[value & 15U]);
      pairs[value] = first | (std::uint64_t{second} << 8U);
    }
    return pairs;
  }();

  alignas(16) std::array<char, 16> text_{};
};

}  // namespace penstock::bench
