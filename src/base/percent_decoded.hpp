#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock::base {

// "%2F" as "/". Empty when a percent sign is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace penstock::base
