#pragma once

#include "gateway/request_head.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::gateway {

// Whether the other end of the connection is a proxy whose word is taken.
enum class Trust : std::uint8_t { Nobody, Proxy };

// Fields that say who asked, from where, for what: written by us, whatever a client sends. Names
// with underscores count, for many servers behind us make no difference.
[[nodiscard]] bool tells_origin(std::string_view name) noexcept;

struct Origin {
  std::string_view peer;    // its address, without port
  std::string_view scheme;  // "http" or "https"
  Trust trust = Trust::Nobody;
};

// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Real-IP's place being taken by the first,
// and Forwarded (RFC 7239). What a trusted proxy said is kept and added to, everything else is
// replaced.
void append_origin(std::string& out, const RequestHead& head, Origin origin);

}  // namespace penstock::gateway
