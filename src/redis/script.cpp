#include "redis/script.hpp"

#include "base/check.hpp"

#include <openssl/evp.h>

#include <array>
#include <utility>

namespace penstock::redis {
namespace {

constexpr std::size_t kSha1Bytes = 20;

std::string hexadecimal(const std::array<unsigned char, kSha1Bytes>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

}  // namespace

Script Script::from(std::string text) {
  std::array<unsigned char, kSha1Bytes> digest{};
  unsigned size = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  PENSTOCK_CHECK(done == 1 && size == digest.size());
  return {.text = std::move(text), .sha1 = hexadecimal(digest)};
}

std::optional<std::string> with_script_text(std::string_view evalsha, const Script& script) {
  constexpr std::string_view kLine = "\r\n";
  const std::string name = "$7\r\nEVALSHA\r\n$40\r\n" + script.sha1 + "\r\n";
  const std::size_t start = evalsha.find(kLine);
  if (!evalsha.starts_with('*') || start == std::string_view::npos) return std::nullopt;
  const std::size_t head = start + kLine.size();
  if (evalsha.substr(head, name.size()) != name) return std::nullopt;
  const std::string_view rest = evalsha.substr(head + name.size());
  const std::string size = std::to_string(script.text.size());
  std::string eval;
  eval.reserve(head + size.size() + script.text.size() + rest.size() + 32);
  eval.append(evalsha.substr(0, head)).append("$4\r\nEVAL\r\n$").append(size).append(kLine);
  eval.append(script.text).append(kLine).append(rest);
  return eval;
}

}  // namespace penstock::redis
