#pragma once

#include <string>

namespace penstock::service {

// A text that nobody else has: 128 random bits in hexadecimal.
[[nodiscard]] std::string random_id();

}  // namespace penstock::service
