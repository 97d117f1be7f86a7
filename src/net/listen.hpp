#pragma once

#include "net/address.hpp"
#include "net/asio_types.hpp"
#include "penstock/result.hpp"

#include <cstdint>
#include <vector>

namespace penstock::net {

// The workers of a process share addresses (SO_REUSEPORT: the kernel spreads the connections).
// Exclusive, for the first worker, fails if another process listens there, which the kernel would
// allow silently.
enum class PortReuse : std::uint8_t { Exclusive, Shared };

// Sockets that listen on an address: one, or one for each address of a host name. Fails with
// Unavailable (in use) or Misconfigured (unknown host, no permission), naming the address.
[[nodiscard]] Result<std::vector<Acceptor>> listen_on(const Executor& executor,
                                                      const Address& address, PortReuse port_reuse);

// The address that a socket listens on, with the port that the kernel has chosen for 0.
[[nodiscard]] Address address_of(const Acceptor& acceptor);

}  // namespace penstock::net
