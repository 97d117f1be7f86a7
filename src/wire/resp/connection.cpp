#include "wire/resp/connection.hpp"

#include "base/deadline.hpp"
#include "net/lingering_close.hpp"
#include "net/spawn.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace penstock::wire::resp {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using net::Awaitable;
using net::kIo;
using net::Phase;
using net::Socket;
using net::TlsStream;

}  // namespace

template <class Stream>
Connection<Stream>::Connection(std::shared_ptr<ServerCore> core, Stream stream, net::Peer peer)
    : core_(std::move(core)),
      stream_(std::move(stream)),
      session_(std::make_shared<Session>(core_->server_context, std::move(peer.address))),
      wakeup_(stream_.get_executor(), base::Deadline::max()) {
  ++core_->statistics.open;
}

template <class Stream>
Connection<Stream>::~Connection() {
  if (!open_) return;  // else the event loop is gone, and nobody has to be told
  session_->on_disconnect();
  --core_->statistics.open;
}

template <class Stream>
void Connection<Stream>::start(std::string_view refusal) {
  session_->on_answer = [this] { on_answer(); };
  if (!refusal.empty()) session_->reject(refusal);
  if (core_->stopping) session_->close_when_idle();
  enter(Phase::Idle);
  net::spawn(stream_.get_executor(), serve(this->shared_from_this()));
}

template <class Stream>
Awaitable<void> Connection<Stream>::serve(std::shared_ptr<Connection> self) {
  bool open = true;
  if constexpr (!std::is_same_v<Stream, Socket>) open = co_await self->tls_handshake();
  while (open && self->open_) {
    const Step step = self->session_->advance();
    self->flush();
    if (!self->open_) break;
    const bool all_said = self->session_->is_done() && !self->writing_;
    if (step == Step::Close && all_said) {
      self->enter(Phase::Linger);
      co_await net::lingering_close(self->stream_, self->open_, self->core_->statistics.bytes_in);
      break;
    }
    if (step == Step::Read) {
      open = co_await self->read();
    } else if (step == Step::Close || self->writing_ || self->session_->awaits_answers()) {
      co_await self->wakeup_.async_wait(kIo);
    }
  }
  self->abort();
}

template <class Stream>
Awaitable<bool> Connection<Stream>::tls_handshake() {
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    enter(Phase::Handshake);
    const auto [failed] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kIo);
    if (failed) ++core_->statistics.handshake_failures;
    co_return !failed;
  }
  co_return true;
}

template <class Stream>
Awaitable<bool> Connection<Stream>::read() {
  enter_reading();
  const std::span<char> room = session_->reader().prepare();
  const asio::mutable_buffer buffer = asio::buffer(room.data(), room.size());
  const auto [failed, size] = co_await stream_.async_read_some(buffer, kIo);
  core_->statistics.bytes_in += size;
  if (!open_) co_return false;
  session_->reader().commit(size);
  co_return !failed;
}

template <class Stream>
void Connection<Stream>::flush() {
  if (writing_ || !open_ || !session_->has_output()) return;
  const std::string_view bytes = session_->take_output();
  const std::size_t written = write_now(bytes);
  if (written == bytes.size()) return;
  unsent_ = bytes.substr(written);
  writing_ = true;
  net::spawn(stream_.get_executor(), write_rest(this->shared_from_this()));
}

// What the socket takes without waiting: most of the time all, which saves a turn of the event
// loop.
template <class Stream>
std::size_t Connection<Stream>::write_now(std::string_view bytes) {
  if constexpr (std::is_same_v<Stream, Socket>) {
    error_code failed;  // will come again when the rest is written
    const std::size_t written = stream_.write_some(asio::buffer(bytes), failed);
    core_->statistics.bytes_out += written;
    return written;
  }
  return 0;  // TLS has its own buffers between us and the socket
}

template <class Stream>
Awaitable<void> Connection<Stream>::write_rest(std::shared_ptr<Connection> self) {
  self->enter(Phase::Write);
  while (self->open_ && !self->unsent_.empty()) {
    const asio::const_buffer buffer = asio::buffer(self->unsent_);
    const auto [failed, size] = co_await self->stream_.async_write_some(buffer, kIo);
    self->core_->statistics.bytes_out += size;
    if (failed) self->abort();
    if (!self->open_) break;
    self->unsent_.remove_prefix(size);
    if (!self->unsent_.empty()) continue;
    self->unsent_ = self->session_->take_output();
    self->enter(Phase::Write);
  }
  self->writing_ = false;
  if (!self->open_) co_return;
  self->phase_command_ = 0;
  self->enter_reading();
  self->wakeup_.cancel();
  if (self->core_->stopping) self->close_when_idle();
}

// Answers that come together leave together.
template <class Stream>
void Connection<Stream>::on_answer() {
  if (std::exchange(flush_posted_, true)) return;
  asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
    self->wakeup_.cancel();
    // told to finish while it was reading
    if (self->open_ && self->core_->stopping) self->close_when_idle();
  });
}

template <class Stream>
void Connection<Stream>::enter(Phase phase) {
  core_->timeouts.enter(*this, phase, base::monotonic_now());
}

// A command has its time from its first byte on, however many reads it takes.
template <class Stream>
void Connection<Stream>::enter_reading() {
  if (writing_) return;
  const penstock::resp::CommandReader& reader = session_->reader();
  Phase wanted = reader.is_within_command() ? Phase::Header : Phase::Idle;
  if (wanted == Phase::Idle && awaits_first_command()) wanted = Phase::Linger;
  if (phase() == wanted && phase_command_ == reader.commands() + 1) return;
  phase_command_ = reader.commands() + 1;
  enter(wanted);
}

template <class Stream>
bool Connection<Stream>::awaits_first_command() {
  return core_->stopping && session_->reader().commands() == 0;
}

template <class Stream>
void Connection<Stream>::expire(Phase phase) {
  ++core_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (phase == Phase::Write) net::reset_on_close(stream_);
  abort();
}

template <class Stream>
void Connection<Stream>::close_when_idle() {
  session_->close_when_idle();
  if (phase() != Phase::Idle || writing_ || session_->awaits_answers() || session_->has_output() ||
      session_->has_unfinished_input()) {
    return;
  }
  error_code failed;  // then the connection is no good anyway
  if (stream_.lowest_layer().available(failed) > 0) return;
  awaits_first_command() ? enter(Phase::Linger) : abort();
}

template <class Stream>
void Connection<Stream>::abort() {
  if (!open_) return;
  open_ = false;
  session_->on_disconnect();
  wakeup_.cancel();
  error_code ignored;  // there is nothing to be done about a socket that does not close
  stream_.lowest_layer().close(ignored);
  unlink();
  core_->on_connection_closed();
}

template class Connection<Socket>;
template class Connection<TlsStream>;

}  // namespace penstock::wire::resp
