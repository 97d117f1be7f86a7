#pragma once

#include "penstock/time.hpp"

#include <optional>
#include <string_view>

namespace penstock::wire::grpc {

// The header field grpc-timeout: up to eight digits and a unit (H M S m u n). Rounded up to whole
// microseconds; empty for anything else.
[[nodiscard]] std::optional<Duration> parse_timeout(std::string_view text) noexcept;

}  // namespace penstock::wire::grpc
