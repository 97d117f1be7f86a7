#include "rules/envoy/envoy_scalars.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace penstock::rules {
namespace {

using namespace std::string_view_literals;

constexpr std::array kTrue{"true"sv, "True"sv, "TRUE"sv, "y"sv,  "Y"sv, "yes"sv,
                           "Yes"sv,  "YES"sv,  "on"sv,   "On"sv, "ON"sv};
constexpr std::array kFalse{"false"sv, "False"sv, "FALSE"sv, "n"sv,   "N"sv,  "no"sv,
                            "No"sv,    "NO"sv,    "off"sv,   "Off"sv, "OFF"sv};
constexpr std::array kOddFloats{".inf"sv, ".Inf"sv, ".INF"sv, ".nan"sv, ".NaN"sv, ".NAN"sv};
// The words of kTrue and kFalse that are truths everywhere come first.
constexpr std::ptrdiff_t kAlways = 3;

bool is_sign(char c) { return c == '+' || c == '-'; }

std::string_view without_sign(std::string_view word) {
  if (!word.empty() && is_sign(word.front())) word.remove_prefix(1);
  return word;
}

std::string without_underscores(std::string_view word) {
  std::string plain(word);
  std::erase(plain, '_');
  return plain;
}

// Takes the digits from the front and says how many they were.
std::size_t take_digits(std::string_view& word) {
  const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
  word.remove_prefix(count);
  return count;
}

bool is_float(std::string_view word) {
  const std::string plain = without_underscores(word);
  std::string_view rest = without_sign(plain);
  if (std::ranges::find(kOddFloats, rest) != kOddFloats.end()) return true;
  const std::size_t whole = take_digits(rest);
  std::size_t part = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    part = take_digits(rest);
  }
  if (whole + part == 0) return false;
  if (rest.empty()) return true;
  if (rest.front() != 'e' && rest.front() != 'E') return false;
  rest = without_sign(rest.substr(1));
  return take_digits(rest) > 0 && rest.empty();
}

// "0x", "0o", "0b" and the "0" of octal numbers are taken from the front.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits.front() != '0') return 10;
  int base = 8;
  switch (digits[1]) {
    case 'x':
    case 'X': base = 16; break;
    case 'b':
    case 'B': base = 2; break;
    case 'o':
    case 'O': break;
    default: digits.remove_prefix(1); return 8;
  }
  digits.remove_prefix(2);
  return base;
}

}  // namespace

std::optional<std::int64_t> envoy_integer(std::string_view word) {
  const std::string plain = without_underscores(word);
  std::string_view digits = without_sign(plain);
  const int base = take_base(digits);
  if (digits.empty() || is_sign(digits.front())) return std::nullopt;
  const std::string number = (plain.starts_with('-') ? "-" : "") + std::string(digits);
  std::int64_t value = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, failure] = std::from_chars(number.data(), end, value, base);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<bool> envoy_boolean(std::string_view word) {
  if (std::ranges::find(kTrue, word) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, word) != kFalse.end()) return false;
  return std::nullopt;
}

EnvoyScalar scalar_of(const YamlNode& node) {
  const std::string_view word = node.raw();
  if (node.is_quoted() || word.empty()) return EnvoyScalar::Text;
  const auto is_always = [word](const auto& words) {
    return std::find(words.begin(), words.begin() + kAlways, word) != words.begin() + kAlways;
  };
  if (is_always(kTrue) || is_always(kFalse)) return EnvoyScalar::Boolean;
  if (envoy_integer(word)) return EnvoyScalar::Integer;
  return is_float(word) ? EnvoyScalar::Float : EnvoyScalar::Text;
}

}  // namespace penstock::rules
