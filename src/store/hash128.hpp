#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein): the keyed hash for processors
// without AES instructions.
[[nodiscard]] Hash128 sip_hash(const std::array<std::uint64_t, 2>& key,
                               std::string_view text) noexcept;

// A keyed hash built from AES rounds. Every 16-byte block is masked with a secret of its own
// position and goes through four rounds; the results are added up without carry, and two more
// rounds mix in the length. Two texts collide only if a difference survives four rounds in both
// and cancels, which for AES has a probability below 2^-110, and no outside process sees
// a hash to learn from. docs/adr/0003 has the reasoning.
class AesHash {
 public:
  // Whether this processor has the instructions. REQUIRED to be true for everything below.
  [[nodiscard]] static bool is_supported() noexcept;

  // From 128 secret bits.
  explicit AesHash(const std::array<std::uint64_t, 2>& secret) noexcept;

  [[nodiscard]] Hash128 operator()(std::string_view text, std::uint64_t purpose) const noexcept;

 private:
  struct alignas(16) Block {
    std::array<std::uint64_t, 2> words{};
  };
  // Masks for the first positions are made in advance; longer texts go on from the last.
  static constexpr std::size_t kMasks = 8;
  static constexpr std::size_t kRoundKeys = 7;

  std::array<Block, kMasks> masks_;
  std::array<Block, kRoundKeys> round_keys_;
};

}  // namespace penstock::store
