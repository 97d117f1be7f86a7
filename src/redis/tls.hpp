#pragma once

#include "penstock/result.hpp"
#include "redis/options.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace penstock::redis {

// The TLS context of all connections of a client: TLS 1.2 or later, server certificates verified.
// An unreadable file is Misconfigured.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const TlsOptions& options);

}  // namespace penstock::redis
