#pragma once

#include "answer/rate_headers.hpp"
#include "gateway/http1/message_head.hpp"
#include "http/message.hpp"

#include <string>
#include <string_view>
#include <vector>

// Responses of the gateway itself, and filtering of upstream responses.
namespace penstock::gateway {

enum class ProxyError : std::uint8_t {
  NoRoute,            // 404
  ClientInFlight,     // 429
  UpstreamInFlight,   // 503
  NoHealthyServer,    // 503
  ConnectFailed,      // 502
  NoResponse,         // 502
  MalformedResponse,  // 502
  UpstreamTimeout,    // 504
  BodyTimeout,        // 408
  MalformedBody,      // 400
  InvalidPath,        // 400
};
// `why` is an optional detail.
[[nodiscard]] http::Response error_response(ProxyError error, std::string_view upstream,
                                            std::string_view why = {});

// Whether the response can have trailers; if not, Trailer is dropped too.
enum class Trailers : std::uint8_t { No, Yes };

// Removes hop-by-hop fields and the fields that the gateway sets itself.
void keep_end_to_end(ResponseHead& head, const answer::HeaderFields& ours, Trailers trailers);

// Whether a request that may have been processed can be sent again (RFC 9110, section 9.2.2).
[[nodiscard]] bool is_idempotent(std::string_view method) noexcept;

}  // namespace penstock::gateway
