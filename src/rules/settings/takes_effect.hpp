#pragma once

#include <cstdint>

namespace penstock::rules {

// When a daemon uses a changed value.
enum class TakesEffect : std::uint8_t { OnReload, OnRestart };

}  // namespace penstock::rules
