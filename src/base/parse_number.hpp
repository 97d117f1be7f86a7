#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace penstock::base {

// All of the text as a number; nothing when it is none, or does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace penstock::base
