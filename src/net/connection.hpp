#pragma once

#include "net/address_limit.hpp"
#include "net/asio_types.hpp"
#include "net/server_state.hpp"

#include <boost/asio/ssl/stream.hpp>

namespace penstock::net {

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
