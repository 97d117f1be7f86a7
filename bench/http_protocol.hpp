#pragma once

#include "bench/wire_protocol.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::bench {

// What to ask of the server.
enum class HttpEndpoint : std::uint8_t {
  Take,         // POST /v1/take with a key and the limit
  ForwardAuth,  // GET, as a proxy asks; the key is the path
  Plain,        // GET of a path, of any server
};

struct HttpRequestSpec {
  HttpEndpoint endpoint = HttpEndpoint::Take;
  std::string path{};  // of the request; the usual one of the endpoint when empty
  std::string host = "127.0.0.1";
  Quota quota = per_second(1'000'000'000);  // of Take
};

// Requests of HTTP/1.1, one at a time. 2xx is allowed, 429 and 403 are denied, the rest failed.
[[nodiscard]] std::unique_ptr<WireProtocol> make_http_protocol(const HttpRequestSpec& request_spec);

}  // namespace penstock::bench
