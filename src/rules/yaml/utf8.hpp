#pragma once

#include <string_view>

namespace penstock::rules {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace penstock::rules
