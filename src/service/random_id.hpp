#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace penstock::service {

// A unique id: 128 random bits in hexadecimal.
[[nodiscard]] inline std::string random_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device source;
  std::string name;
  for (int word = 0; word < 4; ++word) {
    std::uint32_t bits = source();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4U) name += kDigits[bits & 15U];
  }
  return name;
}

}  // namespace penstock::service
