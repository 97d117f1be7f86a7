#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace penstock::audit {

// The value of "name:value" in the reply to INFO; empty if missing.
[[nodiscard]] inline std::string_view info_field(std::string_view info, std::string_view name) {
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find("\r\n", at), info.size());
    const std::string_view line = info.substr(at, end - at);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
    at = end + 2;
  }
  return {};
}

// The same as a number; 0 if missing.
[[nodiscard]] inline std::uint64_t info_number(std::string_view info, std::string_view name) {
  const std::string_view text = info_field(info, name);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace penstock::audit
