#pragma once

#include "base/deadline.hpp"
#include "net/asio_types.hpp"
#include "net/connection_acceptor.hpp"
#include "net/event.hpp"
#include "net/server_state.hpp"
#include "net/session.hpp"
#include "net/tls.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/stream_base.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace penstock::net {

// Shuts down the sending side and waits for the client to close: closing a socket with unread bytes
// resets it, and the client may lose the last response. Reads a bounded amount.
//
// REQUIRES: the caller has entered Phase::Linger, which limits the time, keeps the stream alive,
// and clears `is_open` when it closes the socket.
template <class Stream>
Awaitable<void> lingering_close(Stream& stream, const bool& is_open, std::uint64_t& bytes_in) {
  constexpr std::size_t kMaxReads = 64;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    const auto [unfinished] = co_await stream.async_shutdown(kIo);
    if (unfinished) co_return;
  }
  boost::system::error_code failed;
  stream.lowest_layer().shutdown(Tcp::socket::shutdown_send, failed);
  std::array<char, 4096> unread;
  for (std::size_t reads = 0; reads < kMaxReads && !failed && is_open; ++reads) {
    const boost::asio::mutable_buffer buffer = boost::asio::buffer(unread);
    std::size_t size = 0;
    if constexpr (std::is_same_v<Stream, Socket>) {
      std::tie(failed, size) = co_await stream.async_read_some(buffer, kIo);
    } else {
      std::tie(failed, size) = co_await stream.next_layer().async_read_some(buffer, kIo);
    }
    bytes_in += size;
  }
}

// For a client that does not read: the socket is reset when it is closed, and the kernel drops its
// send buffer. Otherwise it would keep up to 4 MiB until the client has read it.
template <class Stream>
void reset_on_close(Stream& stream) {
  boost::system::error_code ignored;  // then the kernel closes it as usual
  stream.lowest_layer().set_option(boost::asio::socket_base::linger(true, 0), ignored);
}

enum class TlsState : std::uint8_t { New, Established };

// A socket and the coroutine that does what its session says: TLS handshake, time limits,
// back-pressure, drain and lingering close of every listener.
//
// Output leaves in one write when the input has been processed, and at the end of the event loop's
// turn when responses come later. A second coroutine writes while a slow client keeps the first
// one from reading. Lives as long as its coroutines. Thread-safety: none.
template <Session S, class Stream>
class ServerConnection final : public ConnectionBase,
                               public std::enable_shared_from_this<ServerConnection<S, Stream>> {
 public:
  ServerConnection(std::shared_ptr<ServerState> state, std::shared_ptr<S> session, Stream stream,
                   AddressSlot address_slot)
      : state_(std::move(state)), session_(std::move(session)), stream_(std::move(stream)) {
    slot.swap(address_slot);
    ++state_->statistics.open;
  }
  ~ServerConnection() override {
    if (!open_) return;
    session_->detach();
    --state_->statistics.open;  // the event loop is destroyed: on_all_closed is not called
  }

  void start(TlsState tls) {
    needs_handshake_ = kIsTls && tls == TlsState::New;
    session_->on_output = [this] { kFlushesAtOnce ? flush() : schedule_flush(); };
    if constexpr (requires { session_->on_close; }) {
      session_->on_close = [this](CloseMode mode) { close(mode); };
    }
    enter_activity();
    spawn(stream_.get_executor(), serve(this->shared_from_this()));
  }

  void expire(Phase phase) override;
  void drain() override;
  void reload() override {
    if constexpr (requires { session_->reload(); }) session_->reload();
  }
  void close_when_idle() override;
  void abort() override;

 private:
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;
  static constexpr bool kHasMinimumRate = requires(S & session) {
    session.on_sent(std::chrono::nanoseconds{}, std::size_t{});
  };
  static constexpr bool kFlushesAtOnce = requires { S::kFlushesAtOnce; };

  // `self` keeps the connection alive.
  static Awaitable<void> serve(std::shared_ptr<ServerConnection> self);
  static Awaitable<void> write_in_background(std::shared_ptr<ServerConnection> self);
  [[nodiscard]] Awaitable<void> write_unsent();

  [[nodiscard]] bool on_handshake(const boost::system::error_code& failed);
  [[nodiscard]] bool on_read(const boost::system::error_code& failed, std::size_t size);
  // Sends output without waiting. False: some is left in unsent_, and writing_ is set.
  [[nodiscard]] bool send_now();
  [[nodiscard]] std::size_t write_now(std::string_view bytes);
  // Responses of this turn of the event loop are sent in one write at its end.
  void schedule_flush();
  void flush();
  // All output was sent while the session was waiting for input.
  void on_flushed();
  void cancel_read();
  void close_if_idle();
  void close(CloseMode mode);
  void hand_over();
  void enter(Phase phase) {
    if (open_) state_->timeouts.enter(*this, phase, base::monotonic_now());
  }
  void enter_activity();
  void enter_write();

  std::shared_ptr<ServerState> state_;
  std::shared_ptr<S> session_;
  Stream stream_;
  Event wakeup_{};             // the serving coroutine waits for output, or for the end of a write
  std::string_view unsent_{};  // of the output that was taken
  Activity activity_{};        // as of the last phase entered
  bool open_ = true;
  bool needs_handshake_ = false;
  bool writing_ = false;  // write_unsent() is running, or about to
  bool flush_scheduled_ = false;
  bool read_cancelled_ = false;  // by us, to send the last response
};

template <Session S, class Stream>
Awaitable<void> ServerConnection<S, Stream>::serve(std::shared_ptr<ServerConnection> self) {
  bool open = true;
  if constexpr (kIsTls) {
    if (self->needs_handshake_) {
      self->enter(Phase::Handshake);
      const auto [failed] =
          co_await self->stream_.async_handshake(boost::asio::ssl::stream_base::server, kIo);
      open = self->on_handshake(failed);
    }
  }
  if constexpr (requires { self->session_->close_when_idle(); }) {
    if (self->state_->stopping) self->session_->close_when_idle();
  }
  while (open && self->open_) {
    const Step step = self->session_->advance();
    if (step == Step::Switch) co_return self->hand_over();
    if (!self->writing_ && !self->send_now()) {
      if (step != Step::Read) {
        co_await self->write_unsent();
        continue;
      }
      spawn(self->stream_.get_executor(), write_in_background(self));
    }
    if (step == Step::Read) {
      self->enter_activity();
      const std::span<char> room = self->session_->prepare();
      const boost::asio::mutable_buffer buffer(room.data(), room.size());
      const auto [failed, size] = co_await self->stream_.async_read_some(buffer, kIo);
      open = self->on_read(failed, size);
    } else if (step == Step::Close && self->session_->is_done() && !self->writing_) {
      self->session_->detach();
      self->enter(Phase::Linger);
      co_await lingering_close(self->stream_, self->open_, self->state_->statistics.bytes_in);
      open = false;
    } else if (step != Step::Write || self->writing_) {
      self->enter_activity();
      co_await self->wakeup_.wait();
    }
  }
  self->abort();
}

template <Session S, class Stream>
bool ServerConnection<S, Stream>::on_handshake(const boost::system::error_code& failed) {
  if (failed) ++state_->statistics.handshake_failures;
  if (failed || !open_) return false;
  if constexpr (kIsTls && requires { session_->on_protocol(std::string_view{}); }) {
    session_->on_protocol(negotiated_protocol(stream_.native_handle()));
  }
  enter_activity();
  return true;
}

template <Session S, class Stream>
bool ServerConnection<S, Stream>::on_read(const boost::system::error_code& failed,
                                          std::size_t size) {
  state_->statistics.bytes_in += size;
  if (!open_) return false;
  if (std::exchange(read_cancelled_, false)) return true;
  if (!failed) session_->commit(size);
  if constexpr (requires { session_->on_end(); }) {
    if (failed) return session_->on_end();
  }
  return !failed;
}

template <Session S, class Stream>
bool ServerConnection<S, Stream>::send_now() {
  while (true) {
    const std::string_view bytes = session_->take_output();
    if (bytes.empty()) return true;
    const std::size_t written = write_now(bytes);
    if (written == bytes.size()) continue;
    unsent_ = bytes.substr(written);
    writing_ = true;
    return false;
  }
}

// Most responses fit into the socket's buffer, which saves a turn of the event loop.
template <Session S, class Stream>
std::size_t ServerConnection<S, Stream>::write_now(std::string_view bytes) {
  if constexpr (kIsTls) return 0;    // the stream has its own buffers in front of the socket
  boost::system::error_code failed;  // the write of the rest reports it
  const std::size_t written = stream_.write_some(boost::asio::buffer(bytes), failed);
  state_->statistics.bytes_out += written;
  if constexpr (kHasMinimumRate) static_cast<void>(session_->on_sent({}, written));
  return written;
}

template <Session S, class Stream>
Awaitable<void> ServerConnection<S, Stream>::write_unsent() {
  enter_write();
  while (open_ && !unsent_.empty()) {
    const boost::asio::const_buffer buffer = boost::asio::buffer(unsent_);
    base::Deadline began{};
    if constexpr (kHasMinimumRate) began = base::monotonic_now();
    const auto [failed, size] = co_await stream_.async_write_some(buffer, kIo);
    state_->statistics.bytes_out += size;
    if (failed) abort();
    if constexpr (kHasMinimumRate) {
      if (open_ && !session_->on_sent(base::monotonic_now() - began, size)) expire(Phase::Write);
    }
    if (!open_) break;
    unsent_.remove_prefix(size);
    if (kHasMinimumRate && !unsent_.empty()) enter_write();
    if (!unsent_.empty()) continue;
    unsent_ = session_->take_output();
    if (!unsent_.empty()) enter_write();
  }
  writing_ = false;
}

template <Session S, class Stream>
Awaitable<void> ServerConnection<S, Stream>::write_in_background(
    std::shared_ptr<ServerConnection> self) {
  co_await self->write_unsent();
  if (!self->open_) co_return;
  self->wakeup_.has_waiter() ? self->wakeup_.wake() : self->on_flushed();
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::schedule_flush() {
  if (flush_scheduled_ || writing_ || !open_) return;  // a write ends with a look for more output
  flush_scheduled_ = true;
  boost::asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
    self->flush_scheduled_ = false;
    self->flush();
  });
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::flush() {
  if (writing_ || !open_ || phase() == Phase::Handshake) return;
  if (wakeup_.has_waiter()) return wakeup_.wake();  // serve() sends it
  if (send_now()) return on_flushed();
  spawn(stream_.get_executor(), write_in_background(this->shared_from_this()));
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::on_flushed() {
  if (session_->is_done()) return cancel_read();
  enter_activity();
  if (state_->stopping) close_if_idle();
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::cancel_read() {
  read_cancelled_ = true;
  boost::system::error_code ignored;  // then there is nothing to cancel
  stream_.lowest_layer().cancel(ignored);
}

// A request has its time from its first byte on, however many reads it takes.
template <Session S, class Stream>
void ServerConnection<S, Stream>::enter_activity() {
  if (writing_) return;
  const Activity next = session_->activity();
  if (phase() == next.phase && activity_ == next) return;
  activity_ = next;
  enter(next.phase);
}

// An idle client does not get more time by making us write.
template <Session S, class Stream>
void ServerConnection<S, Stream>::enter_write() {
  if (phase() != Phase::Idle || session_->activity() != activity_) enter(Phase::Write);
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::expire(Phase phase) {
  const bool is_ours = phase == Phase::Handshake || phase == Phase::Write || phase == Phase::Linger;
  const TimeoutAction action = is_ours ? TimeoutAction::Abort : session_->on_timeout(phase);
  if (action == TimeoutAction::Continue) {
    schedule_flush();
    return enter_activity();
  }
  ++state_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (action == TimeoutAction::Reject) return cancel_read();
  if (phase == Phase::Write) reset_on_close(stream_);
  if (!is_ours && !writing_) static_cast<void>(write_now(session_->take_output()));
  abort();
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::drain() {
  if constexpr (requires { session_->drain(); }) {
    if (phase() != Phase::Handshake) session_->drain();
  }
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::close_when_idle() {
  if (phase() == Phase::Handshake) return;  // serve() does it afterwards
  if constexpr (requires { session_->close_when_idle(); }) session_->close_when_idle();
  close_if_idle();
}

// A first request may be on its way: its client gets the time of Phase::Linger.
template <Session S, class Stream>
void ServerConnection<S, Stream>::close_if_idle() {
  if (phase() != Phase::Idle || writing_ || !session_->closes_silently()) return;
  boost::system::error_code failed;  // then the connection is broken anyway
  if (stream_.lowest_layer().available(failed) > 0) return;
  enter_activity();
  if (phase() == Phase::Idle) abort();
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::abort() {
  if (!std::exchange(open_, false)) return;
  session_->detach();
  wakeup_.wake_later();
  boost::system::error_code ignored;  // a socket that does not close cannot be helped
  stream_.lowest_layer().close(ignored);
  unlink();
  state_->on_connection_closed();
}

template <Session S, class Stream>
void ServerConnection<S, Stream>::close(CloseMode mode) {
  if (mode == CloseMode::Reset) reset_on_close(stream_);
  if (mode != CloseMode::Sending || kIsTls) return abort();
  boost::system::error_code ignored;  // then the connection is broken
  stream_.lowest_layer().shutdown(Tcp::socket::shutdown_send, ignored);
}

// The next connection counts itself.
template <Session S, class Stream>
void ServerConnection<S, Stream>::hand_over() {
  if constexpr (requires { session_->continue_on(std::move(stream_), std::move(slot)); }) {
    open_ = false;
    unlink();
    --state_->statistics.open;
    session_->continue_on(std::move(stream_), std::move(slot));
    session_->detach();
  }
}

// Serves an accepted socket until either side closes it.
template <Session S>
void start_connection(std::shared_ptr<ServerState> state, std::shared_ptr<S> session,
                      ConnectionAcceptor::AcceptedSocket accepted) {
  const auto start = [&](auto stream) {
    using Stream = decltype(stream);
    std::make_shared<ServerConnection<S, Stream>>(std::move(state), std::move(session),
                                                  std::move(stream), std::move(accepted.slot))
        ->start(TlsState::New);
  };
  if (accepted.tls == nullptr) {
    start(std::move(accepted.socket));
  } else {
    start(TlsStream(std::move(accepted.socket), *accepted.tls));
  }
}

// Serves a client of an earlier connection, which has ended, with another protocol.
template <Session S, class Stream>
void continue_connection(std::shared_ptr<ServerState> state, std::shared_ptr<S> session,
                         Stream stream, AddressSlot slot) {
  std::make_shared<ServerConnection<S, Stream>>(std::move(state), std::move(session),
                                                std::move(stream), std::move(slot))
      ->start(TlsState::Established);
}

}  // namespace penstock::net
