#pragma once

#include "penstock/result.hpp"
#include "rules/settings.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace penstock::wire::http {

// What the TLS connections of a server share: TLS 1.2 or later, HTTP/1.1, and with a client_ca only
// clients that show a certificate of it. A file that cannot be used is Misconfigured, and named.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const rules::TlsFiles& files);

}  // namespace penstock::wire::http
