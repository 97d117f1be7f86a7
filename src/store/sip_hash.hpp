#pragma once

#include "store/hash128.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock::store {

// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein): the keyed hash for processors
// without AES instructions.
[[nodiscard]] Hash128 sip_hash(const std::array<std::uint64_t, 2>& key,
                               std::string_view text) noexcept;

}  // namespace penstock::store
