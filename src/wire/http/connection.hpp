#pragma once

#include "wire/http/asio_types.hpp"
#include "wire/http/conversation.hpp"
#include "wire/http/server_core.hpp"
#include "wire/http/timeouts.hpp"

#include <boost/asio/ssl/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace penstock::wire::http {

using TlsStream = boost::asio::ssl::stream<Socket>;

// A connection as its server sees it.
class AnyConnection : public Timed {
 public:
  // The server is about to stop: goes at once if idle, after the request under way otherwise.
  virtual void finish() = 0;
  // Goes at once. What is under way fails soon, not from within this call.
  virtual void cut() = 0;
};

// One client: a socket, and a coroutine that does what its Conversation says. Lives as long as the
// coroutine. Thread-safety: none.
template <class Stream>
class Connection final : public AnyConnection,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(std::shared_ptr<ServerCore> core, Stream stream, Peer peer);
  ~Connection() override;

  // Starts to serve. `refusal`, if any, is all that the client will hear.
  void start(const Refusal* refusal);

  void expire(Phase phase) override;
  void finish() override;
  void cut() override;

 private:
  using Step = Conversation::Step;

  // `self` is what keeps the connection alive.
  static Awaitable<void> serve(std::shared_ptr<Connection> self);
  [[nodiscard]] Awaitable<bool> greet();
  [[nodiscard]] Awaitable<bool> write_rest(std::string_view bytes);
  [[nodiscard]] Awaitable<void> take_leave();

  [[nodiscard]] bool received(const boost::system::error_code& failed, std::size_t size);
  [[nodiscard]] std::size_t write_now(std::string_view bytes);
  void enter(Phase phase);
  void enter_reading();

  std::shared_ptr<ServerCore> core_;
  Stream stream_;
  std::shared_ptr<Conversation> conversation_;
  Timer answered_;  // never expires: cancelled when the answer is there
  std::uint64_t request_of_phase_ = 0;
  bool open_ = true;
  bool too_slow_ = false;  // to send a request
};

extern template class Connection<Socket>;
extern template class Connection<TlsStream>;

}  // namespace penstock::wire::http
