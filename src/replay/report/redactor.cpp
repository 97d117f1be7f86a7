#include "replay/report/redactor.hpp"

#include "base/check.hpp"
#include "rules/model/limit_keys.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

namespace penstock::replay {
namespace {

constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kHashBytes = 8;

unsigned char* octets_of(std::string& text) {
  return static_cast<unsigned char*>(static_cast<void*>(text.data()));
}
const unsigned char* octets_of(std::string_view text) {
  return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

}  // namespace

Redactor Redactor::with_random_key() {
  std::string key(kRandomBytes, '\0');
  PENSTOCK_CHECK(RAND_bytes(octets_of(key), kRandomBytes) == 1);
  return Redactor(std::move(key));
}

std::string Redactor::redacted(std::string_view subject) const {
  if (subject.empty()) return {};
  const auto parts = rules::parse_subject(subject);
  if (!parts) return hash_of(subject);
  std::string text;
  for (const auto& [name, value] : *parts) {
    text.append(text.empty() ? "" : "&").append(name).append("=");
    text += hash_of(name + "=" + value);
  }
  return text;
}

std::string Redactor::hash_of(std::string_view text) const {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned length = 0;
  PENSTOCK_CHECK(HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), octets_of(text),
                      text.size(), hash.data(), &length) != nullptr);
  std::string out = "#";
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    out += kHex[hash[i] >> 4U];
    out += kHex[hash[i] & 15U];
  }
  return out;
}

}  // namespace penstock::replay
