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

// A server of one event loop, whatever it speaks. Each worker has its own, on the same addresses.
//
// Thread-safety: none; everything happens on the event loop.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // Takes what can change while it runs: certificates, which are read again and used for new
  // connections, and passwords. On an error everything stays as it was; its text begins with the
  // name of the setting in the section of the server: "tls: certificate ...".
  [[nodiscard]] virtual Result<void> reload(const rules::Settings& settings) = 0;

  // Listens on all addresses or on none. Returns them with their ports: what the other workers
  // join.
  [[nodiscard]] virtual Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                            PortReuse port_reuse) = 0;

  // Will stop soon: asks clients to go elsewhere, and goes on to accept and to serve.
  virtual void drain() = 0;

  // Accepts no more, closes idle connections, lets requests under way end, and cuts what is left
  // after `grace`. `stopped` is called once from the event loop, when nothing is left.
  virtual void stop(Duration grace, std::function<void()> stopped) = 0;

  [[nodiscard]] virtual const Statistics& statistics() const noexcept = 0;
};

}  // namespace penstock::net
