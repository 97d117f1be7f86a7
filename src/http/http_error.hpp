#pragma once

#include "http/message.hpp"

#include <string_view>

namespace penstock::http {

// Why a connection responds without calling the handler. The detail is a constant text and contains
// nothing that the client sent.
struct HttpError {
  unsigned status = 400;
  std::string_view detail;

  friend bool operator==(const HttpError&, const HttpError&) = default;
};

// As application/problem+json (RFC 9457).
[[nodiscard]] Response to_response(const HttpError& error);

}  // namespace penstock::http
