#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::net {

// The time does not depend on how much of the secret the text matches.
[[nodiscard]] bool constant_time_equal(std::string_view text, std::string_view secret);

// Whether it is one of the secrets. Takes as long whichever it is.
[[nodiscard]] bool constant_time_equal_any(std::string_view text,
                                           std::span<const std::string> secrets);

}  // namespace penstock::net
