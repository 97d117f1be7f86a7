#pragma once

#include "net/asio_types.hpp"
#include "rules/settings/address.hpp"

#include <boost/asio/ip/basic_resolver.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace penstock::gateway {

// Resolves a host name with the system resolver, which cannot be interrupted: give_up() ends the
// wait, a running lookup finishes later and its result is ignored, a queued one is dropped. At most
// kMaxInFlight per thread; further lookups fail at once.
//
// Thread-safety: none.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  static constexpr std::size_t kMaxInFlight = 256;

  explicit NameLookup(const net::Executor& executor);

  // Returns the addresses; empty on failure or after cancel(). Call once. Keeps itself alive.
  [[nodiscard]] net::Awaitable<std::vector<net::Tcp::endpoint>> find(net::Address address);
  void cancel();

 private:
  net::Timer ended_;  // never expires: cancelled when the lookup ends
  boost::asio::ip::basic_resolver<net::Tcp, net::Executor> resolver_;
  std::vector<net::Tcp::endpoint> found_{};
  bool is_waiting_ = true;
};

}  // namespace penstock::gateway
