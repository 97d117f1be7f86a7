#pragma once

#include "http/message.hpp"

#include <optional>
#include <string_view>

namespace penstock::http {

// A file of web/: "/" is index.html. Empty when there is none. A client that has it already (its
// ETag in If-None-Match) gets 304.
[[nodiscard]] std::optional<Response> static_file(const Request& request);

}  // namespace penstock::http
