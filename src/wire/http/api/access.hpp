#pragma once

#include "http/message.hpp"

#include <optional>
#include <span>
#include <string>

namespace penstock::http {

// Whether this request may change something: with one of the tokens, or on a loopback listener if
// no web page sent it. Otherwise the error response.
[[nodiscard]] std::optional<Response> authorize_write(const Request& request,
                                                      std::span<const std::string> tokens);

}  // namespace penstock::http
