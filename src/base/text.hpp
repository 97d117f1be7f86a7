#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace penstock::base {

// The whole text as a number; empty when it is not one, or does not fit. Integers may have a radix.
template <class Number, class... Radix>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Radix... radix) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, radix...);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// "%2F" as "/". Empty when a percent sign is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

// Letters of ASCII; other characters stay.
[[nodiscard]] constexpr char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
[[nodiscard]] constexpr char upper(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);
[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Empties a string and frees its memory. `text = std::string()` keeps it: libstdc++ copies a short
// string into the room that is there.
inline void free_string(std::string& text) noexcept { std::string().swap(text); }

}  // namespace penstock::base
