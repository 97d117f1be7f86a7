#pragma once

#include "wire/http/message.hpp"

#include <optional>
#include <string_view>

namespace penstock::wire::http {

// Whether this request may change something: with the token, or where only this machine can connect
// and no web page is behind it. Else what to answer.
[[nodiscard]] std::optional<Response> refuse_change(const Request& request, std::string_view token);

}  // namespace penstock::wire::http
