#include "gateway/http1/field_text.hpp"

#include <algorithm>

namespace penstock::gateway {
namespace {

bool is_token_character(char letter) noexcept {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const char small = lower(letter);
  return (small >= 'a' && small <= 'z') || (letter >= '0' && letter <= '9') ||
         kMarks.find(letter) != std::string_view::npos;
}

}  // namespace

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(), lower);
  return copy;
}

}  // namespace penstock::gateway
