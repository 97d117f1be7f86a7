#pragma once

#include "penstock/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::app {

struct NumberRange {
  std::int64_t min = 0;
  std::int64_t max = 1'000'000'000;
};

// Reads the value of an option; the error names the option, the value and what was expected.
[[nodiscard]] Result<std::int64_t> parse_number(std::string_view option, std::string_view text,
                                                NumberRange range);

}  // namespace penstock::app
