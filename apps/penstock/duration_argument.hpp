#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <string_view>

namespace penstock::app {

// Reads the value of an option: "250ms", "1s", "10m", "2h", "30d". The error names the option, the
// value and what was expected.
[[nodiscard]] Result<Duration> parse_duration(std::string_view option, std::string_view text,
                                              Duration min, Duration max);

}  // namespace penstock::app
