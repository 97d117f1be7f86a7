#pragma once

#include "penstock/result.hpp"
#include "redis/options.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace penstock::redis {

// What all TLS connections of a client share: TLS 1.2 or later, the server's certificate verified.
// A file that cannot be read is Misconfigured.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const TlsOptions& options);

}  // namespace penstock::redis
