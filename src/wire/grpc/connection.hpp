#pragma once

#include "net/asio_types.hpp"
#include "net/connection.hpp"
#include "wire/grpc/server_core.hpp"
#include "wire/grpc/session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace penstock::wire::grpc {

enum class AcceptResult : std::uint8_t { Accepted, TooManyConnections };

// One client: a socket, and a coroutine that reads for its Session. What is to be sent leaves
// in one write at the end of a turn. Lives as long as the coroutine, and as a write under way.
// Thread-safety: none.
template <class Stream>
class Connection final : public net::ConnectionBase,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(std::shared_ptr<ServerCore> core, Stream stream, const net::Peer& peer);
  ~Connection() override;

  void start(AcceptResult accept_result);

  void expire(net::Phase phase) override;
  void drain() override;
  void close_when_idle() override;
  void abort() override;

 private:
  // `self` is what keeps the connection alive.
  static net::Awaitable<void> serve(std::shared_ptr<Connection> self);
  static net::Awaitable<void> write_later(std::shared_ptr<Connection> self);
  [[nodiscard]] net::Awaitable<bool> tls_handshake();
  // Sends all there is, and waits while the client is slow. Whether the connection goes on.
  [[nodiscard]] net::Awaitable<bool> flush();
  [[nodiscard]] net::Awaitable<bool> write_rest(std::string_view bytes);

  [[nodiscard]] std::size_t write_now(std::string_view bytes);
  // Answers of this turn of the event loop leave together at its end.
  void plan_flush();
  void enter(net::Phase phase);
  void enter_next();
  void note_requests();
  void expire_requests();

  // What a client sends at a time: the requests of some hundred calls.
  static constexpr std::size_t kReadBytes = std::size_t{16} << 10U;

  std::shared_ptr<ServerCore> core_;
  Stream stream_;
  Session session_;
  net::Timer written_;  // never expires: cancelled when the write under way has ended
  bool open_ = true;
  std::uint64_t requests_ = 0;    // as of the last time the phase was chosen
  base::Deadline next_expiry_{};  // of incomplete requests; the epoch when there are none
  bool is_writing_ = false;
  bool is_flush_planned_ = false;
  bool is_ping_outstanding_ = false;  // asked whether it is there, and has not answered
  std::array<char, kReadBytes> read_buffer_;
};

extern template class Connection<net::Socket>;
extern template class Connection<net::TlsStream>;

}  // namespace penstock::wire::grpc
