#include "wire/grpc/connection.hpp"

#include "base/deadline.hpp"
#include "net/lingering_close.hpp"
#include "net/spawn.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <type_traits>
#include <utility>

namespace penstock::wire::grpc {
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
Connection<Stream>::Connection(std::shared_ptr<ServerCore> core, Stream stream,
                               const net::Peer& peer)
    : core_(std::move(core)),
      stream_(std::move(stream)),
      session_(core_->server_context, core_->refunds_for(peer)),
      written_(stream_.get_executor(), base::Deadline::max()) {
  ++core_->statistics.open;
}

template <class Stream>
Connection<Stream>::~Connection() {
  if (open_) --core_->statistics.open;  // the event loop is gone, and nobody has to be told
}

template <class Stream>
void Connection<Stream>::start(AcceptResult accept_result) {
  session_.on_output = [this] { plan_flush(); };
  if (accept_result == AcceptResult::TooManyConnections) session_.reject_client();
  enter(Phase::Header);
  net::spawn(stream_.get_executor(), serve(this->shared_from_this()));
}

template <class Stream>
Awaitable<void> Connection<Stream>::serve(std::shared_ptr<Connection> self) {
  bool goes_on = co_await self->tls_handshake();
  if (self->core_->stopping) self->session_.close_when_idle();
  if (goes_on) goes_on = co_await self->flush();
  while (goes_on && self->open_) {
    const asio::mutable_buffer buffer = asio::buffer(self->read_buffer_);
    const auto [failed, size] = co_await self->stream_.async_read_some(buffer, kIo);
    if (failed || !self->open_) break;
    self->core_->statistics.bytes_in += size;
    self->is_ping_outstanding_ = false;
    const std::string_view bytes(self->read_buffer_.data(), size);
    goes_on = self->session_.receive(bytes, base::monotonic_now());
    self->note_requests();
    const bool sent = co_await self->flush();
    goes_on = goes_on && sent;
  }
  if (self->open_ && self->session_.is_finished()) {
    self->enter(Phase::Linger);
    co_await net::lingering_close(self->stream_, self->open_, self->core_->statistics.bytes_in);
  }
  self->abort();
}

template <class Stream>
Awaitable<bool> Connection<Stream>::tls_handshake() {
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    enter(Phase::Handshake);
    const auto [failed] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kIo);
    if (failed) ++core_->statistics.handshake_failures;
    enter(Phase::Header);
    co_return !failed;
  }
  co_return true;
}

template <class Stream>
Awaitable<bool> Connection<Stream>::flush() {
  while (is_writing_ && open_) co_await written_.async_wait(kIo);
  is_writing_ = true;
  bool goes_on = open_;
  while (goes_on) {
    const std::string_view bytes = session_.take_output();
    if (bytes.empty()) break;
    const std::size_t written = write_now(bytes);
    if (written < bytes.size()) goes_on = co_await write_rest(bytes.substr(written));
  }
  is_writing_ = false;
  written_.cancel();
  if (!open_ || !goes_on || session_.is_finished()) co_return false;
  enter_next();
  co_return true;
}

// What the socket takes without waiting: for most answers all, which saves a turn of the event
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
Awaitable<bool> Connection<Stream>::write_rest(std::string_view bytes) {
  // An idle client does not get more time by making us write.
  if (phase() != Phase::Idle) enter(Phase::Write);
  while (!bytes.empty() && open_) {
    const asio::const_buffer buffer = asio::buffer(bytes);
    const auto [failed, size] = co_await stream_.async_write_some(buffer, kIo);
    core_->statistics.bytes_out += size;
    if (failed) co_return false;
    bytes.remove_prefix(size);
  }
  co_return open_;
}

template <class Stream>
void Connection<Stream>::plan_flush() {
  if (is_flush_planned_ || is_writing_ || !open_) return;  // who writes asks for more at the end
  is_flush_planned_ = true;
  asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
    self->is_flush_planned_ = false;
    if (!self->open_ || self->is_writing_ || self->phase() == Phase::Handshake) return;
    net::spawn(self->stream_.get_executor(), write_later(self));
  });
}

template <class Stream>
Awaitable<void> Connection<Stream>::write_later(std::shared_ptr<Connection> self) {
  const bool goes_on = co_await self->flush();
  if (goes_on || !self->open_) co_return;
  error_code ignored;  // the reader, who sees that everything is said, has nothing to wait for
  self->stream_.lowest_layer().cancel(ignored);
}

template <class Stream>
void Connection<Stream>::enter(Phase phase) {
  core_->timeouts.enter(*this, phase, base::monotonic_now());
}

// Only a request ends the idle time: pings, settings and unknown frames do not.
template <class Stream>
void Connection<Stream>::note_requests() {
  const std::uint64_t seen = session_.requests();
  if (std::exchange(requests_, seen) != seen && phase() == Phase::Idle) enter(Phase::Processing);
}

// The time of a request that is incomplete runs from when the first such arrived, whatever else
// the client sends.
template <class Stream>
void Connection<Stream>::expire_requests() {
  const base::Deadline now = base::monotonic_now();
  if (session_.incomplete() > 0 && next_expiry_ != base::Deadline{} && now >= next_expiry_) {
    session_.expire(now);
    next_expiry_ = {};
  }
  if (session_.incomplete() == 0) {
    next_expiry_ = {};
  } else if (next_expiry_ == base::Deadline{}) {
    next_expiry_ = now + core_->server_context.request_timeout;
  }
}

template <class Stream>
void Connection<Stream>::enter_next() {
  expire_requests();
  if (!session_.is_established() || session_.is_reading_head()) {
    if (phase() != Phase::Header) enter(Phase::Header);
  } else if (session_.incomplete() > 0) {
    if (phase() != Phase::Body) enter(Phase::Body);
  } else if (!session_.is_idle()) {
    enter(Phase::Processing);
  } else {
    session_.trim();
    if (phase() != Phase::Idle) enter(Phase::Idle);
  }
}

template <class Stream>
void Connection<Stream>::expire(Phase phase) {
  if (phase == Phase::Body) {
    next_expiry_ = base::monotonic_now();
    enter_next();
    return;
  }
  if (phase == Phase::Processing && !std::exchange(is_ping_outstanding_, true)) {
    enter(Phase::Processing);
    session_.send_ping();
    plan_flush();
    return;
  }
  ++core_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (phase == Phase::Write) net::reset_on_close(stream_);
  if (phase == Phase::Idle && !is_writing_) {
    session_.send_goaway();
    static_cast<void>(write_now(session_.take_output()));  // as much as it takes
  }
  abort();
}

template <class Stream>
void Connection<Stream>::drain() {
  if (phase() != Phase::Handshake) session_.drain();
}

template <class Stream>
void Connection<Stream>::close_when_idle() {
  if (phase() != Phase::Handshake) session_.close_when_idle();  // else serve() does it afterwards
}

template <class Stream>
void Connection<Stream>::abort() {
  if (!open_) return;
  open_ = false;
  session_.on_output = nullptr;
  written_.cancel();
  error_code ignored;  // there is nothing to be done about a socket that does not close
  stream_.lowest_layer().close(ignored);
  unlink();
  core_->on_connection_closed();
}

template class Connection<Socket>;
template class Connection<TlsStream>;

}  // namespace penstock::wire::grpc
