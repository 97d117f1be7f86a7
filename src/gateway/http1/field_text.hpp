#pragma once

#include <string>
#include <string_view>

// Parsing of header field values and tokens (RFC 9110, section 5.6).
namespace penstock::gateway {

[[nodiscard]] constexpr char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Control characters except tab, which is allowed in values.
[[nodiscard]] constexpr bool is_control(char letter) noexcept {
  const auto code = static_cast<unsigned char>(letter);
  return (code < 0x20 && letter != '\t') || code == 0x7F;
}

// Compares field names. REQUIRES: `lower_case` is in lower case.
[[nodiscard]] constexpr bool equals_lower_case(std::string_view text,
                                               std::string_view lower_case) noexcept {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// Whether this is a token, as methods and field names are.
[[nodiscard]] bool is_token(std::string_view text) noexcept;
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
[[nodiscard]] std::string lower_case(std::string_view text);

// Calls `visit` with each non-empty item of a comma-separated list.
template <class Visit>
void for_each_item(std::string_view list, const Visit& visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    if (!item.empty()) visit(item);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// Appends "Name: value\r
// ".
inline void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace penstock::gateway
