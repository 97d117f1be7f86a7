#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace penstock::store {

// Identifies a key: 128 bits that are unpredictable outside the process. Among 10^8 keys the
// chance that any two share one is about 10^-23.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr auto operator<=>(const Hash128&, const Hash128&) = default;
};

// The topmost bits of `high` choose the shard; derived hashes keep them.
inline constexpr unsigned kShardBits = 16;

struct Hash128Bucket {
  std::size_t operator()(const Hash128& hash) const noexcept { return hash.low; }
};

}  // namespace penstock::store
