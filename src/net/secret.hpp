#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::net {

// Takes as long for every text that is not the secret, whatever they have in common.
[[nodiscard]] bool is_secret(std::string_view text, std::string_view secret);

// Whether it is one of the secrets. Takes as long whichever it is.
[[nodiscard]] bool is_any_secret(std::string_view text, std::span<const std::string> secrets);

}  // namespace penstock::net
