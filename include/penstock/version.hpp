#pragma once

#include <string_view>

namespace penstock {

// The project version of CMakeLists.txt, which verifies that they are equal.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace penstock
