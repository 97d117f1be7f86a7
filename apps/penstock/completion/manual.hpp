#pragma once

#include "apps/command_line/command_description.hpp"

#include <string>

namespace penstock::app {

// The manual page penstock(1), in the man macros of roff.
[[nodiscard]] std::string manual_page(const CommandDescription& program);

}  // namespace penstock::app
