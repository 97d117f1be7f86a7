#pragma once

#include "gateway/proxy/downstream.hpp"
#include "gateway/upstream/upstream_connection.hpp"
#include "net/asio_types.hpp"
#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock::gateway {

// After an answer of 101: passes it on, and then bytes both ways, until both sides have ended, one
// of them fails, or nothing comes for `idle`. A side that ends is told to the other, which may go
// on. How many bytes the client got. REQUIRES: the client outlives it.
[[nodiscard]] net::Awaitable<std::uint64_t> switch_protocols(
    Downstream::RawStream& client, std::shared_ptr<UpstreamConnection> server,
    std::size_t head_bytes, Duration idle);

}  // namespace penstock::gateway
