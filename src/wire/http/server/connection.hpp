#pragma once

#include "net/asio_types.hpp"
#include "net/connection.hpp"
#include "wire/http/server/server_core.hpp"
#include "wire/http/server/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace penstock::http {

// One client: a socket, and a coroutine that does what its Session says. Lives as long as the
// coroutine. Thread-safety: none.
template <class Stream>
class Connection final : public net::ConnectionBase,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(std::shared_ptr<ServerCore> core, Stream stream, net::Peer peer);
  ~Connection() override;

  // Starts to serve. `refusal`, if any, is all that the client will hear.
  void start(const HttpError* error);

  void expire(net::Phase phase) override;
  void drain() override { session_->drain(); }
  void close_when_idle() override;
  void abort() override;

 private:
  using Step = Session::Step;

  // `self` is what keeps the connection alive.
  static net::Awaitable<void> serve(std::shared_ptr<Connection> self);
  [[nodiscard]] net::Awaitable<bool> tls_handshake();
  [[nodiscard]] net::Awaitable<bool> write_rest(std::string_view bytes);

  [[nodiscard]] bool received(const boost::system::error_code& failed, std::size_t size);
  [[nodiscard]] std::size_t write_now(std::string_view bytes);
  void enter(net::Phase phase);
  void enter_reading();
  // The server stops, and the client has not sent a request yet: it may be on its way.
  [[nodiscard]] bool awaits_first_request();

  std::shared_ptr<ServerCore> core_;
  Stream stream_;
  std::shared_ptr<Session> session_;
  net::Timer response_ready_;  // never expires: cancelled when the answer is there
  std::uint64_t phase_request_ = 0;
  bool open_ = true;
  bool request_timed_out_ = false;  // to send a request
};

extern template class Connection<net::Socket>;
extern template class Connection<net::TlsStream>;

}  // namespace penstock::http
