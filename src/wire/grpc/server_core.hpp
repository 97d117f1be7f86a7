#pragma once

#include "net/connection.hpp"
#include "wire/grpc/conversation.hpp"
#include "wire/grpc/rate_limiter.hpp"

namespace penstock::wire::grpc {

// What a server shares with its connections. They keep it alive; the service they do not, and do
// not ask it once the server is gone.
struct ServerCore : net::Room {
  ServerCore(net::Timeouts::Durations limits, service::Service& service,
             const RateLimiterOptions& answers, const http2::SessionOptions& session,
             std::size_t max_message_bytes, Duration request_timeout, Duration receive_timeout)
      : Room(limits),
        limiter(service, answers),
        surroundings{.limiter = limiter,
                     .room = *this,
                     .session = session,
                     .max_message_bytes = max_message_bytes,
                     .request_timeout = request_timeout,
                     .receive_timeout = receive_timeout} {}

  RateLimiter limiter;
  Surroundings surroundings;
};

}  // namespace penstock::wire::grpc
