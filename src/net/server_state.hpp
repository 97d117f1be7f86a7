#pragma once

#include "net/statistics.hpp"
#include "net/timeouts.hpp"

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

}  // namespace penstock::net
