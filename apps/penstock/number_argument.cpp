#include "apps/penstock/number_argument.hpp"

#include <charconv>
#include <system_error>

namespace penstock::app {

Result<std::int64_t> parse_number(std::string_view option, std::string_view text,
                                  NumberRange range) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc{} && stop == end && value >= range.min && value <= range.max) {
    return value;
  }
  const std::string expected =
      "a whole number from " + std::to_string(range.min) + " to " + std::to_string(range.max);
  return Error{ErrorCode::InvalidInput,
               std::string(option) + " \"" + std::string(text) + "\": expected " + expected};
}

}  // namespace penstock::app
