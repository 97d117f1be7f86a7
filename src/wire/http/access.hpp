#pragma once

#include "wire/http/message.hpp"

#include <optional>
#include <string_view>

namespace penstock::wire::http {

// Whether this request may change something: with the token, or where only this machine can connect
// and no web page is behind it. Else what to answer.
[[nodiscard]] std::optional<Response> refuse_change(const Request& request, std::string_view token);

// Takes as long for every text that is not the secret, whatever they have in common.
[[nodiscard]] bool is_secret(std::string_view text, std::string_view secret);

}  // namespace penstock::wire::http
