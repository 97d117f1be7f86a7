#pragma once

#include "net/address.hpp"
#include "net/address_limit.hpp"
#include "net/asio_types.hpp"
#include "net/listen.hpp"
#include "net/server_state.hpp"
#include "net/tls.hpp"
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

// What the servers of one listener share, each of which belongs to a worker.
struct ListenerShared {
  std::shared_ptr<AddressLimit> per_address{};    // null: addresses are not limited
  std::shared_ptr<const TicketSecret> tickets{};  // null: each server resumes its own sessions
};

struct AcceptorOptions {
  std::size_t max_connections = 20'000;
  ListenerShared shared{};
  std::optional<TlsFiles> tls{};
  std::vector<std::string> protocols{};            // offered in TLS (ALPN), the best first
  Duration tick = std::chrono::milliseconds{100};  // how often timeouts are checked
};

// Listens, accepts, checks the timeouts of connections and stops them, for every protocol. Each
// worker has its own, on the same addresses.
//
// Thread-safety: none; everything happens on the event loop, which one thread runs and which
// outlives the acceptor.
class ConnectionAcceptor {
 public:
  // The socket is non-blocking, with TCP_NODELAY.
  struct AcceptedSocket {
    Socket socket;
    Peer peer;
    std::shared_ptr<boost::asio::ssl::context> tls;  // null without TLS
    AddressSlot slot;                                // for the connection to hold
    bool too_many;                                   // max_connections is reached: to be rejected
  };
  // Starts a ConnectionBase that enters the ServerState.
  using OnAccept = std::function<void(AcceptedSocket)>;

  ConnectionAcceptor(boost::asio::io_context& loop, std::shared_ptr<ServerState> state,
                     AcceptorOptions options, OnAccept on_accept);
  // Aborts open connections. NOLINTNEXTLINE(bugprone-exception-escape): a timer that cannot be
  // cancelled
  ~ConnectionAcceptor();
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  // Changes the options, with a new TLS context, for new connections; then calls
  // ConnectionBase::reload for the open ones. `apply` is called in between, and not if the TLS
  // files cannot be used. On an error nothing changes.
  [[nodiscard]] Result<void> reload(AcceptorOptions options,
                                    const std::function<Result<void>()>& apply);

  // Listens on all addresses or on none. Returns them with their ports, for the other workers.
  [[nodiscard]] Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                    PortReuse port_reuse);

  // As Listener::drain does.
  void drain();

  // As Listener::stop does.
  void stop(Duration grace, std::function<void()> stopped);

 private:
  struct ListeningSocket;
  struct Shared;  // state shared with the accepting coroutines

  static Awaitable<void> accept_on(std::shared_ptr<Shared> shared,
                                   std::shared_ptr<ListeningSocket> listener);
  static Awaitable<void> check_timeouts(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace penstock::net
