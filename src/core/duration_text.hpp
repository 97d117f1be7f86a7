#pragma once

#include "penstock/time.hpp"

#include <optional>
#include <string>
#include <string_view>

// Lengths of time as people write them in configurations, options and calls.
namespace penstock::core {

// "250ms", "10s", "5m", "2h", "1d"; nothing when it is not written so, or too long to be held.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

// The same the other way, in the largest unit that divides it; what is below a millisecond is cut.
[[nodiscard]] std::string duration_text(Duration duration);

}  // namespace penstock::core
