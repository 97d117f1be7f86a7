#pragma once

#include "http/message.hpp"

#include <string_view>

namespace penstock::http {

// Why a connection answers by itself, and does not ask the handler. The detail is one of our own
// texts: it goes out as it is and has nothing of what the client sent.
struct HttpError {
  unsigned status = 400;
  std::string_view detail;

  friend bool operator==(const HttpError&, const HttpError&) = default;
};

// The refusal as application/problem+json (RFC 9457).
[[nodiscard]] Response to_response(const HttpError& error);

}  // namespace penstock::http
