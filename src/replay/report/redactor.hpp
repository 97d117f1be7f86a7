#pragma once

#include <string>
#include <string_view>

namespace penstock::replay {

// Replaces the values of subjects by a keyed hash (HMAC-SHA-256, 64 bits of it): equal values have
// equal hashes within a report, and with the same key in other reports. Without the key, a value
// cannot be confirmed by hashing a guess.
//
// Thread-safety: all members, from any thread.
class Redactor {
 public:
  explicit Redactor(std::string key) : key_(std::move(key)) {}
  // With a key of 256 random bits, which is not kept.
  [[nodiscard]] static Redactor with_random_key();

  // "client_ip=192.0.2.7" as "client_ip=#5f1d7a3c9b20e864". The names of attributes stay.
  [[nodiscard]] std::string redacted(std::string_view subject) const;

 private:
  [[nodiscard]] std::string hash_of(std::string_view text) const;

  std::string key_;
};

}  // namespace penstock::replay
