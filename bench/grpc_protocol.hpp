#pragma once

#include "bench/rate_limit_message.hpp"
#include "bench/wire_protocol.hpp"

#include <memory>
#include <string>

namespace penstock::bench {

struct GrpcRequestSpec {
  std::string authority = "127.0.0.1";
  RateLimitRequestSpec message;
};

// Calls of ShouldRateLimit over HTTP/2 without TLS, one stream per call. OK is allowed,
// OVER_LIMIT denied, any other code and any status but 0 failed.
[[nodiscard]] std::unique_ptr<WireProtocol> make_grpc_protocol(const GrpcRequestSpec& request_spec);

}  // namespace penstock::bench
