// libFuzzer: request paths under all settings. A forwarded path is normalized and does not change
// when normalized again.
#include "http/normalized_path.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using penstock::http::NormalizedPath;
using penstock::rules::PathSettings;

void check(bool holds) {
  if (!holds) std::abort();
}

PathSettings settings_of(unsigned bits) {
  return {.merge_slashes = (bits & 1U) != 0,
          .escaped_slashes = static_cast<PathSettings::EscapedSlashes>((bits >> 1U) % 3),
          .backslashes = static_cast<PathSettings::Backslashes>((bits >> 3U) % 3),
          .parameters = static_cast<PathSettings::Parameters>((bits >> 5U) % 3),
          .letter_case = static_cast<PathSettings::LetterCase>((bits >> 7U) & 1U)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const PathSettings settings = settings_of(data[0]);
  const std::string path(data + 1, data + size);
  const auto once = penstock::http::normalized_path(path, settings);
  if (!std::holds_alternative<NormalizedPath>(once)) return 0;
  const auto& normal = std::get<NormalizedPath>(once);
  check(normal.forwarded == "*" || normal.forwarded.front() == '/');
  for (const char letter : normal.forwarded) {
    check(static_cast<unsigned char>(letter) > 0x20 && static_cast<unsigned char>(letter) < 0x7F);
  }
  check((normal.forwarded + "/").find("/../") == std::string::npos);
  check((normal.matched + "/").find("/../") == std::string::npos);
  const auto twice = penstock::http::normalized_path(normal.forwarded, settings);
  check(std::holds_alternative<NormalizedPath>(twice) && std::get<NormalizedPath>(twice) == normal);
  return 0;
}
