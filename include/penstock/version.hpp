#pragma once

#include <string_view>

namespace penstock {

// The same as the project version in CMakeLists.txt, which refuses to configure otherwise.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace penstock
