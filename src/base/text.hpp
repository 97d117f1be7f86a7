#pragma once

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

// Empties a string and frees its memory. `text = std::string()` keeps it: libstdc++ copies a short
// string into the room that is there.
inline void free_string(std::string& text) noexcept { std::string().swap(text); }

}  // namespace penstock::base
