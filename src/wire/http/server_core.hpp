#pragma once

#include "base/deadline.hpp"
#include "wire/http/conversation.hpp"
#include "wire/http/statistics.hpp"
#include "wire/http/timeouts.hpp"

#include <functional>

namespace penstock::wire::http {

// What a server shares with its connections. They keep it alive; the handler they do not, and do
// not call it once the server is gone.
struct ServerCore {
  Surroundings surroundings;
  Timeouts timeouts;
  // When the last connection has gone while the server stops.
  std::function<void()> on_last_gone{};
  bool stopping = false;

  [[nodiscard]] Statistics& statistics() noexcept { return surroundings.statistics; }
};

}  // namespace penstock::wire::http
