#pragma once

#include "penstock/time.hpp"

#include <string>

namespace penstock::app {

// "2026-11-17 14:03:12", in UTC.
[[nodiscard]] std::string utc_text(Instant time);

}  // namespace penstock::app
