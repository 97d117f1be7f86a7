#include "apps/command_line/value_arguments.hpp"

#include "core/duration_text.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace penstock::app {
namespace {

Error expected(std::string_view option, std::string_view text, const std::string& values) {
  return {ErrorCode::InvalidInput,
          std::string(option) + " \"" + std::string(text) + "\": expected " + values};
}

}  // namespace

Result<std::int64_t> parse_number(std::string_view option, std::string_view text,
                                  NumberRange range) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc{} && stop == end && value >= range.min && value <= range.max) {
    return value;
  }
  return expected(
      option, text,
      "a whole number from " + std::to_string(range.min) + " to " + std::to_string(range.max));
}

Result<Duration> parse_duration(std::string_view option, std::string_view text, Duration min,
                                Duration max) {
  const std::optional<Duration> duration = core::parse_duration(text);
  if (duration && *duration >= min && *duration <= max) return *duration;
  return expected(option, text,
                  "a time such as 250ms, 10s, 5m, 2h or 1d, from " + core::exact_text(min) +
                      " to " + core::exact_text(max));
}

}  // namespace penstock::app
