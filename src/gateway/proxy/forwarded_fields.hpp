#pragma once

#include "gateway/http1/request_head.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Whether the other end of the connection is a proxy whose word is taken.
enum class Trust : std::uint8_t { None, Proxy };

// Fields that say who asked, from where, for what: written by us, whatever a client sends. Names
// with underscores count, for many servers behind us make no difference.
[[nodiscard]] bool is_origin_field(std::string_view name) noexcept;

struct Origin {
  std::string_view peer;    // its address, without port
  std::string_view scheme;  // "http" or "https"
  Trust trust = Trust::None;
};

// Fields by which some frameworks take another path, host or method than the request line says
// ("X-Original-URL", "X-Rewrite-URL"), and Proxy, which CGI programs take for a proxy to use. Rules
// would be asked about another request. Only a trusted proxy may send them.
[[nodiscard]] bool overrides_target(std::string_view name) noexcept;

// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Real-IP's place being taken by the first,
// and Forwarded (RFC 7239). What a trusted proxy said is kept and added to, everything else is
// replaced.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> origin_fields(
    const RequestHead& head, Origin origin);

}  // namespace penstock::gateway
