#pragma once

#include "net/address.hpp"
#include "net/listen.hpp"
#include "net/statistics.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <functional>
#include <vector>

namespace penstock::rules {
struct Settings;  // only passed on
}  // namespace penstock::rules

namespace penstock::net {

// A server of one event loop. Each worker has its own, on the same addresses.
//
// Thread-safety: none; everything happens on the event loop.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // Applies all settings but the addresses: to new connections, and where the protocol allows it to
  // the next request of open ones. On an error nothing changes; its text begins with the name of
  // the setting in the section of the server: "tls: certificate ...".
  [[nodiscard]] virtual Result<void> reload(const rules::Settings& settings) = 0;

  // Listens on all addresses or on none. Returns them with their ports, for the other workers.
  [[nodiscard]] virtual Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                            PortReuse port_reuse) = 0;

  // Will stop soon: tells clients to connect elsewhere; keeps accepting and serving.
  virtual void drain() = 0;

  // Stops accepting, closes idle connections, finishes requests in flight, and aborts connections
  // that are open after `grace`. Then calls `stopped` once, from the event loop.
  virtual void stop(Duration grace, std::function<void()> stopped) = 0;

  [[nodiscard]] virtual const Statistics& statistics() const noexcept = 0;
};

}  // namespace penstock::net
