#include "wire/http/server/connection.hpp"

#include "base/deadline.hpp"
#include "net/lingering_close.hpp"
#include "net/spawn.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace penstock::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using net::Awaitable;
using net::kIo;
using net::Phase;
using net::Socket;
using net::TlsStream;

constexpr HttpError kRequestTimeout{408, "the request did not arrive in time"};

}  // namespace

template <class Stream>
Connection<Stream>::Connection(std::shared_ptr<ServerCore> core, Stream stream, net::Peer peer)
    : core_(std::move(core)),
      stream_(std::move(stream)),
      session_(std::make_shared<Session>(core_->server_context, std::move(peer))),
      response_ready_(stream_.get_executor(), base::Deadline::max()) {
  ++core_->statistics.open;
}

template <class Stream>
Connection<Stream>::~Connection() {
  if (!open_) return;  // else the event loop is gone, and nobody has to be told
  session_->detach();
  --core_->statistics.open;
}

template <class Stream>
void Connection<Stream>::start(const HttpError* error) {
  session_->on_answer = [this] { response_ready_.cancel(); };
  if (error != nullptr) session_->reject(*error);
  if (core_->draining) session_->drain();
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
    if (step == Step::Close) {
      self->enter(Phase::Linger);
      co_await net::lingering_close(self->stream_, self->open_, self->core_->statistics.bytes_in);
      break;
    }
    if (step == Step::Read) {
      self->enter_reading();
      const std::span<char> room = self->session_->reader().prepare();
      const asio::mutable_buffer buffer = asio::buffer(room.data(), room.size());
      const auto [failed, size] = co_await self->stream_.async_read_some(buffer, kIo);
      open = self->received(failed, size);
    } else if (step == Step::Write) {
      const std::string_view bytes = self->session_->take_output();
      const std::size_t written = self->write_now(bytes);
      if (written < bytes.size()) open = co_await self->write_rest(bytes.substr(written));
    } else {
      self->enter(Phase::Processing);
      co_await self->response_ready_.async_wait(kIo);
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
bool Connection<Stream>::received(const error_code& failed, std::size_t size) {
  core_->statistics.bytes_in += size;
  if (!open_) return false;
  if (request_timed_out_) {
    session_->reject(kRequestTimeout);
    return true;
  }
  session_->reader().commit(size);
  return !failed;
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
  enter(Phase::Write);
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
void Connection<Stream>::enter(Phase phase) {
  core_->timeouts.enter(*this, phase, base::monotonic_now());
}

// A header has its time from its first byte on, however many reads it takes.
template <class Stream>
void Connection<Stream>::enter_reading() {
  using Stage = RequestReader::Stage;
  RequestReader& reader = session_->reader();
  const Stage stage = reader.stage();
  Phase wanted = stage == Stage::Header ? Phase::Header : Phase::Body;
  if (stage == Stage::Nothing) wanted = awaits_first_request() ? Phase::Linger : Phase::Idle;
  if (phase() == wanted && phase_request_ == reader.requests_begun()) return;
  phase_request_ = reader.requests_begun();
  enter(wanted);
}

template <class Stream>
bool Connection<Stream>::awaits_first_request() {
  return core_->stopping && session_->reader().requests_begun() == 0;
}

template <class Stream>
void Connection<Stream>::expire(Phase phase) {
  ++core_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (phase == Phase::Write) net::reset_on_close(stream_);
  if (phase != Phase::Header && phase != Phase::Body) {
    abort();
    return;
  }
  request_timed_out_ = true;
  error_code ignored;  // then there is nothing to cancel
  stream_.lowest_layer().cancel(ignored);
}

template <class Stream>
void Connection<Stream>::close_when_idle() {
  session_->close_when_idle();
  if (phase() != Phase::Idle) return;
  error_code failed;  // then the connection is no good anyway
  if (stream_.lowest_layer().available(failed) > 0) return;
  awaits_first_request() ? enter(Phase::Linger) : abort();
}

template <class Stream>
void Connection<Stream>::abort() {
  if (!open_) return;
  open_ = false;
  session_->detach();
  response_ready_.cancel();
  error_code ignored;  // there is nothing to be done about a socket that does not close
  stream_.lowest_layer().close(ignored);
  unlink();
  core_->on_connection_closed();
}

template class Connection<Socket>;
template class Connection<TlsStream>;

}  // namespace penstock::http
