#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::redis {

inline constexpr std::uint16_t kHashSlots = 16'384;

// The part of a key that determines its slot: the text between the first "{" and the first "}"
// after it, or the whole key when that is empty or missing.
[[nodiscard]] std::string_view hash_tag(std::string_view key) noexcept;

// CRC-16/XMODEM of the hash tag, modulo the number of slots.
[[nodiscard]] std::uint16_t hash_slot(std::string_view key) noexcept;

}  // namespace penstock::redis
