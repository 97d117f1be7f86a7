#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace penstock::base {

// The whole text as a number; empty when it is not one, or does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace penstock::base
