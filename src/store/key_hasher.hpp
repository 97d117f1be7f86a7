#pragma once

#include "store/hash128.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::store {

// Turns keys into hashes under a secret of its own, so that clients cannot choose keys that meet in
// one place of the table.
//
// Thread-safety: immutable.
class KeyHasher {
 public:
  using Secret = std::array<std::uint64_t, 2>;

  // From the operating system's source of randomness.
  [[nodiscard]] static Secret random_secret();

  enum class Engine : std::uint8_t { Fastest, Portable };
  explicit KeyHasher(const Secret& secret, Engine engine = Engine::Fastest) noexcept;

  [[nodiscard]] Hash128 key(std::string_view text) const noexcept {
    return hash(text, Purpose::Key);
  }
  [[nodiscard]] Hash128 counter(std::string_view text) const noexcept {
    return hash(text, Purpose::Counter);
  }
  [[nodiscard]] Hash128 decimal_counter(std::string_view text) const noexcept {
    return hash(text, Purpose::DecimalCounter);
  }
  // The place of one named limit of a key: another hash, in the same shard.
  [[nodiscard]] Hash128 limit_of(Hash128 key, std::string_view name) const noexcept;

 private:
  enum class Purpose : std::uint8_t { Key, LimitName, Counter, DecimalCounter };

  [[nodiscard]] Hash128 hash(std::string_view text, Purpose purpose) const noexcept;

  Secret secret_;
  std::optional<AesHash> aes_;
};

}  // namespace penstock::store
