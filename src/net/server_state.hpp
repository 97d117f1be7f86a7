#pragma once

#include "net/address_limit.hpp"
#include "net/asio_types.hpp"
#include "net/statistics.hpp"
#include "net/timeouts.hpp"

#include <boost/asio/ssl/stream.hpp>

#include <functional>
#include <string>

namespace penstock::net {

// The client of a connection.
struct Peer {
  std::string address;
  bool listens_on_loopback = true;
  bool is_loopback = true;  // the client is on this machine
};

// State that the connections of one server share. They keep it alive, and count themselves in
// statistics.open.
struct ServerState {
  explicit ServerState(Timeouts::Durations limits = {}) noexcept : timeouts(limits) {}

  // REQUIRES: the connection was counted.
  void on_connection_closed() {
    if (--statistics.open == 0 && on_all_closed) on_all_closed();
  }

  Statistics statistics{};
  Timeouts timeouts;
  // Called when the last connection of a stopping server is closed.
  std::function<void()> on_all_closed{};
  bool draining = false;  // will stop soon: clients should connect elsewhere
  bool stopping = false;
};

using TlsStream = boost::asio::ssl::stream<Socket>;

// A connection as its server sees it.
class ConnectionBase : public TimeoutEntry {
 public:
  // The server will stop soon: tells the client, if the protocol can, and keeps serving.
  virtual void drain() {}
  // The options of the server have changed.
  virtual void reload() {}
  // The server stops: closes at once if idle, after the request in flight otherwise.
  virtual void close_when_idle() = 0;
  // Closes at once. Operations in flight fail later, not from within this call.
  virtual void abort() = 0;

  AddressSlot slot{};  // of its address, until the connection is destroyed
};

}  // namespace penstock::net
