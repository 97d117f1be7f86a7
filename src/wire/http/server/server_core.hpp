#pragma once

#include "net/connection.hpp"
#include "wire/http/server/conversation.hpp"

namespace penstock::http {

// What a server shares with its connections. They keep it alive; the handler they do not, and do
// not call it once the server is gone.
struct ServerCore : net::Room {
  ServerCore(net::Timeouts::Durations limits_of_time, Handler& handler, const Clock& clock,
             ReaderLimits limits, Duration request_timeout)
      : Room(limits_of_time),
        surroundings{.handler = handler,
                     .clock = clock,
                     .statistics = statistics,
                     .limits = limits,
                     .request_timeout = request_timeout} {}

  Surroundings surroundings;
};

}  // namespace penstock::http
