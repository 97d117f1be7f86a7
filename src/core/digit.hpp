#pragma once

namespace penstock::core {

// Of ASCII, whatever the locale.
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace penstock::core
