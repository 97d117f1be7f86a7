#pragma once

#include "penstock/time.hpp"

#include <optional>
#include <string>
#include <string_view>

// Lengths of time as text.
namespace penstock::core {

// As written in configurations, options and calls:
// "250ms", "10s", "5m", "2h", "1d"; nothing when it is not written so, or too long to be held.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

// The same the other way, in the largest unit that divides it; what is below a millisecond is cut.
[[nodiscard]] std::string duration_text(Duration duration);

// A wait for people, in one or two units: "250 ms", "1.5 s", "1 min 36 s", "3 d 4 h". Rounded up,
// so that a client that waits for it has waited long enough.
[[nodiscard]] std::string rounded_up_text(Duration wait);

// Nothing rounded, in the largest unit that divides it: "10 s", "90 min".
[[nodiscard]] std::string exact_text(Duration length);

// For rulers: "+4.8h", "-200ms", "0", in the largest unit that is not above `step`; two decimals.
[[nodiscard]] std::string ruler_label(Duration offset, Duration step);

}  // namespace penstock::core
