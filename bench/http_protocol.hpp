#pragma once

#include "bench/wire_protocol.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::bench {

// The kind of request.
enum class HttpEndpoint : std::uint8_t {
  Take,         // POST /v1/take with a key and the limit
  ForwardAuth,  // GET, as a proxy sends it; the key is the path
  Plain,        // GET of a path from any server
};

struct HttpRequestSpec {
  HttpEndpoint endpoint = HttpEndpoint::Take;
  std::string path{};  // empty: the default of the endpoint
  std::string host = "127.0.0.1";
  Quota quota = per_second(1'000'000'000);  // of Take
};

// HTTP/1.1, one request at a time. 2xx is allowed, 429 and 403 denied, everything else failed.
[[nodiscard]] std::unique_ptr<WireProtocol> make_http_protocol(const HttpRequestSpec& request_spec);

}  // namespace penstock::bench
