#include "penstock/decimal.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace penstock {
namespace {

constexpr std::size_t kPlaces = 9;

Error malformed(std::string_view text) {
  return {ErrorCode::InvalidInput,
          "\"" + std::string(text) + "\" is not a decimal number such as -12.5"};
}

}  // namespace

Result<Decimal> Decimal::parse(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::size_t point = std::min(rest.find('.'), rest.size());
  const std::string_view whole = rest.substr(0, point);
  const std::string_view places = point < rest.size() ? rest.substr(point + 1) : std::string_view{};
  if (whole.empty() || (point < rest.size() && places.empty())) return malformed(text);
  std::string digits = std::string(whole) + std::string(places);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return malformed(text);
  if (places.size() > kPlaces) {
    return Error{ErrorCode::InvalidInput,
                 "\"" + std::string(text) + "\" has more than 9 places behind the point"};
  }
  digits.append(kPlaces - places.size(), '0');
  // with its sign, because the lowest number has no positive counterpart
  const auto nanos = base::parse_number<std::int64_t>((negative ? "-" : "") + digits);
  if (nanos) return from_nanos(*nanos);
  return Error{
      ErrorCode::InvalidInput,
      "\"" + std::string(text) + "\" is beyond the range of a decimal, 9223372036.854775807"};
}

std::string to_string(Decimal value) {
  const std::int64_t whole = value.nanos() / Decimal::kNanosPerUnit;
  const std::int64_t rest = value.nanos() % Decimal::kNanosPerUnit;
  std::string text = value.nanos() < 0 && whole == 0 ? "-0" : std::to_string(whole);
  if (rest == 0) return text;
  const std::string digits = std::to_string(rest < 0 ? -rest : rest);
  text += "." + std::string(kPlaces - digits.size(), '0') + digits;
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace penstock
