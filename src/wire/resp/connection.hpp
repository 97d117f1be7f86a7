#pragma once

#include "net/asio_types.hpp"
#include "net/connection.hpp"
#include "wire/resp/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace penstock::wire::resp {

// What a server shares with its connections. They keep it alive; the service they do not, and do
// not ask it once the server is gone.
struct ServerCore : net::ServerState {
  ServerCore(net::Timeouts::Durations phase_limits, service::Service& service,
             ServerSettings settings)
      : ServerState(phase_limits),
        server_context{
            .service = service, .statistics = statistics, .settings = std::move(settings)} {}

  ServerContext server_context;
};

// One client: a socket, a coroutine that reads what its Session wants, and one that writes
// while the socket does not take everything at once. Replies leave when a read has been worked off,
// and when answers of the store have come: all of them in one write. Lives as long as its
// coroutines. Thread-safety: none.
template <class Stream>
class Connection final : public net::ConnectionBase,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(std::shared_ptr<ServerCore> core, Stream stream, net::Peer peer);
  ~Connection() override;

  // Starts to serve. `refusal`, if any, is all that the client will hear.
  void start(std::string_view refusal);

  void expire(net::Phase phase) override;
  void close_when_idle() override;
  void abort() override;

 private:
  using Step = Session::Step;

  // `self` is what keeps the connection alive.
  static net::Awaitable<void> serve(std::shared_ptr<Connection> self);
  static net::Awaitable<void> write_rest(std::shared_ptr<Connection> self);
  [[nodiscard]] net::Awaitable<bool> tls_handshake();
  [[nodiscard]] net::Awaitable<bool> read();

  // Sends what there is, as far as nothing is being sent.
  void flush();
  [[nodiscard]] std::size_t write_now(std::string_view bytes);
  void on_answer();
  void enter(net::Phase phase);
  void enter_reading();
  // The server stops, and the client has not sent a command yet: it may be on its way.
  [[nodiscard]] bool awaits_first_command();

  std::shared_ptr<ServerCore> core_;
  Stream stream_;
  std::shared_ptr<Session> session_;
  net::Timer wakeup_;        // never expires: cancelled when there is something new to look at
  std::string_view unsent_;  // of the output that was taken
  std::uint64_t phase_command_ = 0;
  bool writing_ = false;  // write_rest() is at work
  bool flush_posted_ = false;
  bool open_ = true;
};

extern template class Connection<net::Socket>;
extern template class Connection<net::TlsStream>;

}  // namespace penstock::wire::resp
