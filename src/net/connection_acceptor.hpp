#pragma once

#include "net/address.hpp"
#include "net/address_limit.hpp"
#include "net/asio_types.hpp"
#include "net/connection.hpp"
#include "net/listen.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::net {

struct AcceptorOptions {
  std::size_t max_connections = 20'000;
  std::shared_ptr<AddressLimit> per_address{};  // null: addresses are not limited
  std::optional<TlsFiles> tls{};
  std::vector<std::string> protocols{};            // offered in TLS (ALPN), the best first
  Duration tick = std::chrono::milliseconds{100};  // how often time limits are looked at
};

// The front of a server, whatever it speaks: listens, accepts, looks at the time limits of the
// connections, and sees them off at the end. Each worker has its own, on the same addresses.
//
// Thread-safety: none; everything happens on the event loop, which one thread runs and which
// outlives the acceptor.
class ConnectionAcceptor {
 public:
  // A client that has come: its socket does not block, and does not wait to fill packets.
  struct AcceptedSocket {
    Socket socket;
    Peer peer;
    std::shared_ptr<boost::asio::ssl::context> tls;  // null without TLS
    AddressSlot slot;                                // for the connection to hold
    bool too_many;  // to be told so, and sent away: there are max_connections already
  };
  // Starts a connection for it, which is an ConnectionBase in the ServerState.
  using OnAccept = std::function<void(AcceptedSocket)>;

  ConnectionAcceptor(boost::asio::io_context& loop, std::shared_ptr<ServerState> state,
                     AcceptorOptions options, OnAccept on_accept);
  // Cuts what is left. NOLINTNEXTLINE(bugprone-exception-escape): a timer that cannot be cancelled
  ~ConnectionAcceptor();
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  // Reads these files, which new connections use. On an error everything stays as it was. Does
  // nothing for a server that has no TLS, or would have none: that takes a restart.
  [[nodiscard]] Result<void> reload_tls(const std::optional<TlsFiles>& files);

  // Listens on all addresses or on none. Returns them with their ports: what the other workers
  // join.
  [[nodiscard]] Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                    PortReuse port_reuse);

  // As Listener::drain does.
  void drain();

  // Accepts no more, closes idle connections, lets requests under way end, and cuts what is left
  // after `grace`. `stopped` is called once from the event loop, when nothing is left.
  void stop(Duration grace, std::function<void()> stopped);

 private:
  struct ListeningSocket;
  struct Shared;  // what the accepting coroutines share with the acceptor

  static Awaitable<void> accept_on(std::shared_ptr<Shared> shared,
                                   std::shared_ptr<ListeningSocket> listener);
  static Awaitable<void> check_timeouts(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace penstock::net
