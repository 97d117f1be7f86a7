#pragma once

#include "http/message.hpp"

#include <optional>
#include <span>
#include <string>

namespace penstock::http {

// Whether this request may change something: with one of the tokens, or where only this machine can
// connect and no web page is behind it. Else what to answer.
[[nodiscard]] std::optional<Response> authorize_write(const Request& request,
                                                      std::span<const std::string> tokens);

}  // namespace penstock::http
