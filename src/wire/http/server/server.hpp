#pragma once

#include "http/message.hpp"
#include "net/listener.hpp"
#include "penstock/clock.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/settings.hpp"
#include "wire/http/server/session.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>

namespace penstock::http {

// See net::SocketListener.
struct ServerOptions {
  rules::HttpSettings http{};  // `listen` and `token` are not used
  bool are_settings = false;   // their names are in errors
  Duration handshake_timeout = std::chrono::seconds{10};
  Duration request_timeout = std::chrono::seconds{1};  // the deadline of handlers
  Duration linger = std::chrono::seconds{2};           // for a client to read the last response
  net::ListenerShared shared{};
  Duration tick = std::chrono::milliseconds{100};  // how often timeouts are checked

  void use(const rules::Settings& settings);
  [[nodiscard]] net::AcceptorOptions acceptor_options() const;
  Result<void> apply_to(ServerContext& context) const;
};

// The HTTP/1.1 server of one event loop: keep-alive, pipelining, TLS, limits on everything a client
// can make us hold or wait for. Each worker has its own, on the same addresses.
//
// Each connection holds about 4 KB; max_connections is per server, one more gets 503.
// Thread-safety: none; everything happens on the event loop, which one thread runs. The handler and
// the event loop outlive the server; the server may be destroyed while responses are pending.
class Server final : public net::SocketListener<ServerContext, ServerOptions> {
 public:
  // `clock` is for the Date header.
  Server(boost::asio::io_context& loop, Handler& handler, const ServerOptions& options,
         const Clock& clock = system_clock());
};

}  // namespace penstock::http
