#pragma once

#include "penstock/time.hpp"

#include <optional>
#include <string_view>

namespace penstock::replay {

// A time as access logs write it:
//
//     10/Oct/2026:13:55:36 +0200               nginx and Apache
//     2026-10-10T13:55:36.123456Z, +02:00      RFC 3339; a space for the T; UTC without a zone
//     1791640536.123                           seconds since 1970, with a fraction
//     1791640536123, ...123456, ...123456789   the same in milli-, micro- and nanoseconds
//
// Digits beyond a microsecond are dropped. Empty when malformed, or outside 1970 to 2199.
[[nodiscard]] std::optional<Instant> parse_log_time(std::string_view text);

// The length of "10/Oct/2026:13:55:36 +0200".
inline constexpr std::size_t kCombinedTimeLength = 26;

}  // namespace penstock::replay
