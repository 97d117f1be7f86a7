#pragma once

#include "answer/rate_headers.hpp"
#include "gateway/http1/response_head.hpp"
#include "http/message.hpp"

#include <string>
#include <string_view>
#include <vector>

// What the gateway answers by itself, and what it makes of the answers of others.
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
// `why`, if any, is what is wrong in particular.
[[nodiscard]] http::Response error_response(ProxyError error, std::string_view upstream,
                                            std::string_view why = {});

// Whether trailers can follow the answer; without them, Trailer is dropped too.
enum class Trailers : std::uint8_t { No, Yes };

// The fields of an answer that go on to the client: not what was about the connection, and not what
// we say ourselves.
void keep_end_to_end(ResponseHead& head, const answer::HeaderFields& ours, Trailers trailers);

// Whether a request that perhaps arrived may be sent again (RFC 9110, section 9.2.2).
[[nodiscard]] bool is_idempotent(std::string_view method) noexcept;

}  // namespace penstock::gateway
