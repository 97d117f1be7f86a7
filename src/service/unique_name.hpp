#pragma once

#include <string>

namespace penstock::service {

// A text that nobody else has: 128 random bits in hexadecimal.
[[nodiscard]] std::string unique_name();

}  // namespace penstock::service
