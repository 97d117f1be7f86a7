#pragma once

#include "gateway/proxy/downstream.hpp"
#include "gateway/upstream/upstream_connection.hpp"
#include "net/asio_types.hpp"
#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock::gateway {

// Forwards a 101 response, then relays bytes both ways until both sides have closed, one fails, or
// no byte arrives for `idle`. A close of one side is forwarded as a half-close. Returns the bytes
// sent to the client. REQUIRES: the client outlives it.
[[nodiscard]] net::Awaitable<std::uint64_t> switch_protocols(
    Downstream::RawStream& client, std::shared_ptr<UpstreamConnection> server,
    std::size_t head_bytes, Duration idle);

}  // namespace penstock::gateway
