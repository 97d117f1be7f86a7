#pragma once

#include "gateway/http1/request_head.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Whether the peer is a trusted proxy.
enum class Trust : std::uint8_t { None, Proxy };

// Fields that describe the client: always written by the gateway. Names with underscores match too,
// because many servers treat them as equal.
[[nodiscard]] bool is_origin_field(std::string_view name) noexcept;

struct Origin {
  std::string_view peer;    // IP address of the peer
  std::string_view scheme;  // "http" or "https"
  Trust trust = Trust::None;
};

// Fields that make some frameworks use another path, host or method than the request line
// ("X-Original-URL", "X-Rewrite-URL"), and Proxy, which CGI programs use as a proxy setting. Rules
// would check a different request, so only a trusted proxy may send them.
[[nodiscard]] bool overrides_target(std::string_view name) noexcept;

// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and Forwarded (RFC 7239); X-Real-IP is
// replaced by the first. Values from a trusted proxy are extended, others replaced.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> origin_fields(
    const RequestHead& head, Origin origin);

}  // namespace penstock::gateway
