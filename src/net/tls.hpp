#pragma once

#include "net/address.hpp"
#include "penstock/result.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock::net {

// What the TLS connections of a server share: TLS 1.2 or later, only cipher suites with forward
// secrecy and authenticated encryption, and with a client_ca only clients
// that show a certificate of it. Of the protocols that a client offers (ALPN), the first of ours is
// chosen; one that offers only others is refused, one that offers none is not asked. A file that
// cannot be used is Misconfigured, and named.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const TlsFiles& files, std::span<const std::string> protocols);

// What a client and we have agreed on; empty for nothing.
[[nodiscard]] std::string_view negotiated_protocol(const ssl_st* connection);

}  // namespace penstock::net
