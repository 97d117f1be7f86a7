#include "net/constant_time_equal.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>

namespace penstock::net {
namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

bool digest(std::string_view text, Digest& result) {
  unsigned size = 0;
  return EVP_Digest(text.data(), text.size(), result.data(), &size, EVP_sha256(), nullptr) == 1;
}

}  // namespace

bool constant_time_equal(std::string_view text, std::string_view secret) {
  // of equal length and unknown to the asker, whatever was given
  Digest ours{};
  Digest theirs{};
  return digest(text, theirs) && digest(secret, ours) &&
         CRYPTO_memcmp(ours.data(), theirs.data(), ours.size()) == 0;
}

bool constant_time_equal_any(std::string_view text, std::span<const std::string> secrets) {
  bool found = false;
  for (const std::string& secret : secrets) found = constant_time_equal(text, secret) || found;
  return found;
}

}  // namespace penstock::net
