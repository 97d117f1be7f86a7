#pragma once

#include <string_view>

namespace penstock::net {

// Takes as long for every text that is not the secret, whatever they have in common.
[[nodiscard]] bool is_secret(std::string_view text, std::string_view secret);

}  // namespace penstock::net
