#pragma once

#include "net/asio_types.hpp"
#include "rules/settings/address.hpp"

#include <boost/asio/ip/basic_resolver.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace penstock::gateway {

// Asks the system what addresses a name has. The system cannot be interrupted: who has waited long
// enough calls give_up() and goes; what the system is busy with ends some time later by itself, and
// nobody hears of it. What still waits for its turn then is not asked any more. There are
// kMaxInFlight of them at a time in a thread, and one more finds nothing.
//
// Thread-safety: none.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  static constexpr std::size_t kMaxInFlight = 256;

  explicit NameLookup(const net::Executor& executor);

  // The addresses; empty when there are none, or it was given up. Once. Keeps itself alive.
  [[nodiscard]] net::Awaitable<std::vector<net::Tcp::endpoint>> find(rules::Address address);
  void cancel();

 private:
  net::Timer ended_;  // never expires: cancelled when there is nothing more to wait for
  boost::asio::ip::basic_resolver<net::Tcp, net::Executor> resolver_;
  std::vector<net::Tcp::endpoint> found_{};
  bool is_waiting_ = true;
};

}  // namespace penstock::gateway
