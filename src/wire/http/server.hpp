#pragma once

#include "penstock/clock.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings.hpp"
#include "wire/http/asio_types.hpp"
#include "wire/http/listener.hpp"
#include "wire/http/message.hpp"
#include "wire/http/server_core.hpp"
#include "wire/http/statistics.hpp"

#include <boost/asio/ssl/context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace penstock::wire::http {

struct ServerOptions {
  rules::HttpSettings http{};  // `listen` and `token` are for others
  Duration handshake_timeout = std::chrono::seconds{10};
  Duration request_timeout = std::chrono::seconds{1};  // what handlers get as their deadline
  Duration linger = std::chrono::seconds{2};           // for a client to take its last answer
  Duration tick = std::chrono::milliseconds{100};      // how often time limits are looked at
};

// The HTTP/1.1 server of one event loop: keep-alive, pipelining, TLS, limits on everything a client
// can make us hold or wait for. Each worker has its own, on the same addresses.
//
// Each connection holds about 4 KB; max_connections is per server. One more is told 503.
// Thread-safety: none; everything happens on the event loop, which one thread runs. The handler and
// the event loop outlive the server; the server may go while answers are awaited.
class Server {
 public:
  // `clock` is for the Date of answers.
  Server(boost::asio::io_context& loop, Handler& handler, ServerOptions options,
         const Clock& clock = system_clock());
  // Cuts what is left. NOLINTNEXTLINE(bugprone-exception-escape): a timer that cannot be cancelled
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Reads the TLS files of the options again, if there are any: new connections use them. On an
  // error everything stays as it was. Also needed once before listen().
  [[nodiscard]] Result<void> reload_tls();

  // Listens on all addresses or on none. Returns them with their ports: what the other workers
  // join.
  [[nodiscard]] Result<std::vector<rules::Address>> listen(
      const std::vector<rules::Address>& addresses, Sharing sharing);

  // Accepts no more, closes idle connections, lets requests under way end, and cuts what is left
  // after `grace`. `stopped` is called once from the event loop, when nothing is left.
  void stop(Duration grace, std::function<void()> stopped);

  [[nodiscard]] const Statistics& statistics() const noexcept { return core_->statistics(); }

 private:
  struct Listener;
  struct Front;  // what the accepting coroutines share with the server

  static Awaitable<void> accept_on(std::shared_ptr<Front> front,
                                   std::shared_ptr<Listener> listener);
  static Awaitable<void> watch(std::shared_ptr<Front> front);

  std::shared_ptr<ServerCore> core_;
  std::shared_ptr<Front> front_;
};

}  // namespace penstock::wire::http
