#pragma once

#include "net/address_limit.hpp"
#include "net/asio_types.hpp"
#include "net/statistics.hpp"
#include "net/timeouts.hpp"

#include <boost/asio/ssl/stream.hpp>

#include <functional>
#include <string>

namespace penstock::net {

using TlsStream = boost::asio::ssl::stream<Socket>;

// Who is at the other end.
struct Peer {
  std::string address;
  bool listens_on_loopback = true;
  bool is_loopback = true;  // the client is on this machine
};

// A connection as its server sees it.
class ConnectionBase : public TimeoutEntry {
 public:
  // The server will stop soon: asks the client to go elsewhere, where the protocol has a way to say
  // so, and serves it as long as it stays.
  virtual void drain() {}
  // The server stops: goes at once if idle, after the request in flight otherwise.
  virtual void close_when_idle() = 0;
  // Goes at once. What is under way fails soon, not from within this call.
  virtual void abort() = 0;

  AddressSlot slot{};  // of its address, for as long as it lives
};

// What the connections of one server share. They keep it alive, and count themselves in
// statistics.open.
struct ServerState {
  explicit ServerState(Timeouts::Durations limits) noexcept : timeouts(limits) {}

  // A connection that has been counted is gone.
  void on_connection_closed() {
    if (--statistics.open == 0 && on_all_closed) on_all_closed();
  }

  Statistics statistics{};
  Timeouts timeouts;
  // When the last connection has gone while the server stops.
  std::function<void()> on_all_closed{};
  bool draining = false;  // will stop soon: clients are asked to go elsewhere
  bool stopping = false;
};

}  // namespace penstock::net
