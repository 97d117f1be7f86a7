#include "wire/resp/connection.hpp"

#include "base/deadline.hpp"
#include "net/leave.hpp"
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
      conversation_(std::make_shared<Conversation>(core_->surroundings, std::move(peer.address))),
      changed_(stream_.get_executor(), base::Deadline::max()) {
  ++core_->statistics.open;
}

template <class Stream>
Connection<Stream>::~Connection() {
  if (!open_) return;  // else the event loop is gone, and nobody has to be told
  conversation_->abandon();
  --core_->statistics.open;
}

template <class Stream>
void Connection<Stream>::start(std::string_view refusal) {
  conversation_->on_answer = [this] { on_answer(); };
  if (!refusal.empty()) conversation_->refuse(refusal);
  if (core_->stopping) conversation_->finish();
  enter(Phase::Idle);
  net::spawn(stream_.get_executor(), serve(this->shared_from_this()));
}

template <class Stream>
Awaitable<void> Connection<Stream>::serve(std::shared_ptr<Connection> self) {
  bool open = true;
  if constexpr (!std::is_same_v<Stream, Socket>) open = co_await self->greet();
  while (open && self->open_) {
    const Step step = self->conversation_->advance();
    self->flush();
    if (!self->open_) break;
    const bool all_said = self->conversation_->is_done() && !self->writing_;
    if (step == Step::Close && all_said) {
      self->enter(Phase::Linger);
      co_await net::take_leave(self->stream_, self->open_, self->core_->statistics.bytes_in);
      break;
    }
    if (step == Step::Read) {
      open = co_await self->read();
    } else if (step == Step::Close || self->writing_ || self->conversation_->awaits_answers()) {
      co_await self->changed_.async_wait(kIo);
    }
  }
  self->cut();
}

template <class Stream>
Awaitable<bool> Connection<Stream>::greet() {
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
  const std::span<char> room = conversation_->reader().room();
  const asio::mutable_buffer buffer = asio::buffer(room.data(), room.size());
  const auto [failed, size] = co_await stream_.async_read_some(buffer, kIo);
  core_->statistics.bytes_in += size;
  if (!open_) co_return false;
  conversation_->reader().commit(size);
  co_return !failed;
}

template <class Stream>
void Connection<Stream>::flush() {
  if (writing_ || !open_ || !conversation_->has_output()) return;
  const std::string_view bytes = conversation_->take_output();
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
    if (failed) self->cut();
    if (!self->open_) break;
    self->unsent_.remove_prefix(size);
    if (!self->unsent_.empty()) continue;
    self->unsent_ = self->conversation_->take_output();
    self->enter(Phase::Write);
  }
  self->writing_ = false;
  if (!self->open_) co_return;
  self->command_of_phase_ = 0;
  self->enter_reading();
  self->changed_.cancel();
  if (self->core_->stopping) self->finish();
}

// Answers that come together leave together.
template <class Stream>
void Connection<Stream>::on_answer() {
  if (std::exchange(flush_posted_, true)) return;
  asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
    self->changed_.cancel();
    // told to finish while it was reading
    if (self->open_ && self->core_->stopping) self->finish();
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
  const penstock::resp::CommandReader& reader = conversation_->reader();
  Phase wanted = reader.is_within_command() ? Phase::Header : Phase::Idle;
  if (wanted == Phase::Idle && awaits_only_command()) wanted = Phase::Linger;
  if (phase() == wanted && command_of_phase_ == reader.commands() + 1) return;
  command_of_phase_ = reader.commands() + 1;
  enter(wanted);
}

template <class Stream>
bool Connection<Stream>::awaits_only_command() {
  return core_->stopping && conversation_->reader().commands() == 0;
}

template <class Stream>
void Connection<Stream>::expire(Phase phase) {
  ++core_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (phase == Phase::Write) net::drop_unsent(stream_);
  cut();
}

template <class Stream>
void Connection<Stream>::finish() {
  conversation_->finish();
  if (phase() != Phase::Idle || writing_ || conversation_->awaits_answers() ||
      conversation_->has_output() || conversation_->has_unfinished_input()) {
    return;
  }
  error_code failed;  // then the connection is no good anyway
  if (stream_.lowest_layer().available(failed) > 0) return;
  awaits_only_command() ? enter(Phase::Linger) : cut();
}

template <class Stream>
void Connection<Stream>::cut() {
  if (!open_) return;
  open_ = false;
  conversation_->abandon();
  changed_.cancel();
  error_code ignored;  // there is nothing to be done about a socket that does not close
  stream_.lowest_layer().close(ignored);
  unlink();
  core_->leave();
}

template class Connection<Socket>;
template class Connection<TlsStream>;

}  // namespace penstock::wire::resp
