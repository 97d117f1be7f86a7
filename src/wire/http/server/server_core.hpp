#pragma once

#include "net/connection.hpp"
#include "wire/http/server/session.hpp"

namespace penstock::http {

// What a server shares with its connections. They keep it alive; the handler they do not, and do
// not call it once the server is gone.
struct ServerCore : net::ServerState {
  ServerCore(net::Timeouts::Durations phase_limits, Handler& handler, const Clock& clock,
             ReaderLimits limits, Duration request_timeout)
      : ServerState(phase_limits),
        server_context{.handler = handler,
                       .clock = clock,
                       .statistics = statistics,
                       .limits = limits,
                       .request_timeout = request_timeout} {}

  ServerContext server_context;
};

}  // namespace penstock::http
