#pragma once

#include "net/address.hpp"
#include "penstock/result.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock::net {

// The TLS context of a server: TLS 1.2 or later, cipher suites with forward secrecy and
// authenticated encryption, and with a client_ca only clients that present a certificate of it.
// ALPN selects the first of our protocols that the client offers; a client that offers only others
// is rejected, one without ALPN is accepted. A file that cannot be used is Misconfigured, with its
// name.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const TlsFiles& files, std::span<const std::string> protocols);

// The protocol that ALPN selected; empty without one.
[[nodiscard]] std::string_view negotiated_protocol(const ssl_st* connection);

}  // namespace penstock::net
