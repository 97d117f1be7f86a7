#pragma once

#include <string>

namespace penstock::service {

// A unique id: 128 random bits in hexadecimal.
[[nodiscard]] std::string random_id();

}  // namespace penstock::service
