#pragma once

#include "net/address.hpp"

#include <optional>
#include <string_view>

namespace penstock::rules {

using net::Address;
using net::TlsFiles;

// "127.0.0.1:8080", "[::1]:8080"; empty for anything else.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

}  // namespace penstock::rules
