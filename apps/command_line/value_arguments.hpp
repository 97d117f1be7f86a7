#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <string_view>

// Values of options. Errors name the option, the value and what was expected.
namespace penstock::app {

struct NumberRange {
  std::int64_t min = 0;
  std::int64_t max = 1'000'000'000;
};

[[nodiscard]] Result<std::int64_t> parse_number(std::string_view option, std::string_view text,
                                                NumberRange range);

// "250ms", "1s", "10m", "2h", "30d".
[[nodiscard]] Result<Duration> parse_duration(std::string_view option, std::string_view text,
                                              Duration min, Duration max);

}  // namespace penstock::app
