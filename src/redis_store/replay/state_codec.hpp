#pragma once

#include "core/any_state.hpp"
#include "core/lease.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Encoding of states in Redis; docs/reference/redis-keys.md describes it for operators.
// Little-endian, packed, in the notation of Lua's struct library:
//
//     I1 16 + algorithm, I4 limit, I4 capacity, I5 period in ms, I1 parts     the header, 15 bytes
//     I6 the key's expiry in ms since 1970, as last set
//     the fields of the algorithm: state_codec.cpp
//
// A blocked key begins with I1 1, I7 until; its state, if any, follows.
//
// An escrow, in a key of its own:
//
//     I1 16, I7 lifetime in microseconds, I7 epoch, I4 current, I4 previous
namespace penstock::redis_store {

// Integers as Lua's struct library packs them with '<': little-endian, with the given number of
// bytes, at most 8.
class PackedWriter {
 public:
  PackedWriter& number(std::uint64_t value, unsigned bytes) {
    std::array<char, 8> packed{};
    for (unsigned i = 0; i < 8; ++i) packed[i] = static_cast<char>(value >> (8 * i) & 0xffU);
    bytes_.append(packed.data(), bytes);
    return *this;
  }
  PackedWriter& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const& noexcept { return bytes_; }
  [[nodiscard]] std::string bytes() && noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads them back. REQUIRES: enough bytes are left; see left().
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    }
    rest_.remove_prefix(bytes);
    return value;
  }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::string_view rest_;
};

inline constexpr std::size_t kHeaderSize = 15;

// The quota that a state was written under. Two quotas have the same header if and only if they are
// equal.
using StateHeader = std::array<char, kHeaderSize>;

[[nodiscard]] StateHeader header_of(const Quota& quota);
[[nodiscard]] inline std::string_view view(const StateHeader& header) {
  return {header.data(), header.size()};
}

// The content of a key.
struct KeyContent {
  Instant blocked_until{};
  std::optional<Quota> quota{};  // of the state; empty when there is no state
  core::AnyState state{};
  std::int64_t expires_ms = 0;  // the TTL that was set with it
};

// Decodes `bytes`; empty when they are malformed. `expected` saves decoding the quota when its
// header is the same.
[[nodiscard]] std::optional<KeyContent> decode(std::string_view bytes, const Quota& expected,
                                               const StateHeader& expected_header);
[[nodiscard]] std::optional<KeyContent> decode(std::string_view bytes);

// REQUIRES: content has a state, made under its quota.
[[nodiscard]] std::string encode(const KeyContent& content);

[[nodiscard]] std::optional<core::Escrow> decode_escrow(std::string_view bytes);
[[nodiscard]] std::string encode(const core::Escrow& escrow);

}  // namespace penstock::redis_store
