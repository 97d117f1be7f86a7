#include "gateway/http2/http2_connection.hpp"

#include "base/deadline.hpp"
#include "net/lingering_close.hpp"
#include "net/spawn.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <type_traits>
#include <utility>

namespace penstock::gateway {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using net::Awaitable;
using net::kIo;
using net::Phase;
using net::Socket;
using net::TlsStream;

// Output of all streams that waits for the socket.
constexpr std::size_t kMaxOutput = std::size_t{64} << 10U;
// Time for a client to read a response that was sent before its body arrived.
constexpr std::chrono::seconds kLinger{1};
// Lower than elsewhere: each request may cost a connection to an upstream.
constexpr std::uint32_t kFloodBurst = 1'000;
constexpr std::uint32_t kFloodRate = 100;

http2::SessionOptions session_options(const rules::GatewaySettings& settings) {
  return {.max_streams = static_cast<std::uint32_t>(settings.max_streams),
          .max_header_bytes = settings.max_header_bytes,
          .max_output = kMaxOutput,
          .flow_control = http2::FlowControl::Manual,
          .flood_burst = kFloodBurst,
          .flood_rate = kFloodRate,
          .linger = kLinger};
}

}  // namespace

template <class Stream>
Http2Connection<Stream>::Http2Connection(std::shared_ptr<GatewayContext> context, Stream stream,
                                         std::string peer, Trust trust)
    : context_(std::move(context)),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      trust_(trust),
      session_(*this, session_options(context_->settings)),
      handle_{.session = session_, .schedule_flush = [this] { schedule_flush(); }},
      written_(stream_.get_executor(), base::Deadline::max()),
      linger_(stream_.get_executor()),
      download_(context_->settings.min_download_rate, context_->settings.write_timeout) {
  ++context_->statistics.open;
}

template <class Stream>
Http2Connection<Stream>::~Http2Connection() {
  for (const auto& [id, stream] : streams_) stream->abandon();
  if (open_) --context_->statistics.open;  // destroyed with the event loop
}

template <class Stream>
void Http2Connection<Stream>::start(std::string received) {
  enter(Phase::Header);
  net::spawn(stream_.get_executor(), serve(this->shared_from_this(), std::move(received)));
}

template <class Stream>
Awaitable<void> Http2Connection<Stream>::serve(std::shared_ptr<Http2Connection> self,
                                               std::string received) {
  if (self->context_->stopping) self->session_.begin_shutdown();
  bool goes_on = co_await self->receive(received);
  while (goes_on && self->open_) {
    const asio::mutable_buffer buffer = asio::buffer(self->read_buffer_);
    const auto [failed, size] = co_await self->stream_.async_read_some(buffer, kIo);
    if (failed || !self->open_) break;
    self->context_->statistics.bytes_in += size;
    goes_on = co_await self->receive({self->read_buffer_.data(), size});
  }
  if (self->open_ && self->session_.is_finished()) {
    self->enter(Phase::Linger);
    co_await net::lingering_close(self->stream_, self->open_, self->context_->statistics.bytes_in);
  }
  self->abort();
}

template <class Stream>
Awaitable<bool> Http2Connection<Stream>::receive(std::string_view bytes) {
  const bool makes_sense = session_.receive(bytes, base::monotonic_now());
  // Only a request ends the idle time; pings, settings and unknown frames do not.
  const std::uint64_t seen = session_.requests();
  if (std::exchange(requests_, seen) != seen && phase() == Phase::Idle) enter(Phase::Processing);
  const bool goes_on = co_await flush();
  co_return makes_sense&& goes_on;
}

template <class Stream>
http2::StreamEvents* Http2Connection<Stream>::on_request(http2::StreamId id,
                                                         const http2::RequestHead& head) {
  if (const auto defect = Http2Request::find_defect(head)) {
    reject(id, *defect);
    return nullptr;
  }
  const net::Executor executor = stream_.get_executor();
  auto stream = std::make_shared<Http2Stream>(context_, handle_, id, Http2Request(head), executor);
  streams_[id] = stream;
  const bool is_tls = std::is_same_v<Stream, TlsStream>;
  const Origin origin{.peer = {}, .scheme = is_tls ? "https" : "http", .trust = trust_};
  net::spawn(executor, Http2Stream::serve(stream, origin, peer_));
  return stream.get();
}

template <class Stream>
void Http2Connection<Stream>::reject(http2::StreamId id, const HttpError& why) {
  ++context_->statistics.responses.at(why.status / 100);
  const std::string status = std::to_string(why.status);
  const std::array fields{http2::Field{.name = ":status", .value = status},
                          http2::static_field("content-length", "0")};
  session_.respond(id, fields);
}

template <class Stream>
Awaitable<bool> Http2Connection<Stream>::flush() {
  const auto self = this->shared_from_this();
  while (is_writing_ && open_) co_await written_.async_wait(kIo);
  is_writing_ = true;
  bool goes_on = open_;
  while (goes_on) {
    end_lingering();
    std::string_view bytes = session_.take_output();
    if (bytes.empty()) break;
    while (!bytes.empty() && goes_on) {
      std::size_t size = 0;
      error_code failed;
      const base::Deadline began = base::monotonic_now();
      if constexpr (std::is_same_v<Stream, Socket>) {
        size = stream_.write_some(asio::buffer(bytes), failed);
      }
      if (size == 0) {
        // An idle client does not extend its timeout by causing writes.
        if (phase() != Phase::Idle) enter(Phase::Write);
        const asio::const_buffer buffer = asio::buffer(bytes);
        std::tie(failed, size) = co_await stream_.async_write_some(buffer, kIo);
        goes_on = !failed && open_;
      }
      download_.waited(base::monotonic_now() - began, size);
      if (goes_on && download_.is_too_slow()) {
        expire(Phase::Write);
        goes_on = false;
      }
      context_->statistics.bytes_out += size;
      bytes.remove_prefix(size);
    }
  }
  is_writing_ = false;
  written_.cancel();
  erase_closed_streams();
  if (!open_ || !goes_on || session_.is_finished()) co_return false;
  enter_next();
  co_return true;
}

template <class Stream>
void Http2Connection<Stream>::schedule_flush() {
  if (is_flush_scheduled_ || is_writing_ || !open_) return;  // the writer checks for more
  is_flush_scheduled_ = true;
  asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
    self->is_flush_scheduled_ = false;
    if (!self->open_ || self->is_writing_) return;
    net::spawn(self->stream_.get_executor(), write_later(self));
  });
}

template <class Stream>
Awaitable<void> Http2Connection<Stream>::write_later(std::shared_ptr<Http2Connection> self) {
  const bool goes_on = co_await self->flush();
  if (goes_on || !self->open_) co_return;
  error_code ignored;  // wakes the reader, which then ends
  self->stream_.lowest_layer().cancel(ignored);
}

template <class Stream>
void Http2Connection<Stream>::end_lingering() {
  const base::Deadline due = session_.end_lingering(base::monotonic_now());
  if (due == base::Deadline::max() || std::exchange(is_linger_awaited_, true)) return;
  linger_.expires_at(due);
  linger_.async_wait([self = this->shared_from_this()](const error_code& /*cancelled*/) {
    self->is_linger_awaited_ = false;
    self->schedule_flush();
  });
}

template <class Stream>
void Http2Connection<Stream>::erase_closed_streams() {
  for (const http2::StreamId id : std::exchange(handle_.closed, {})) streams_.erase(id);
}

template <class Stream>
void Http2Connection<Stream>::enter(Phase phase) {
  if (open_) context_->timeouts.enter(*this, phase, base::monotonic_now());
}

// Streams have their own timeouts.
template <class Stream>
void Http2Connection<Stream>::enter_next() {
  const bool has_head = session_.is_established() && !session_.is_reading_head();
  if (has_head && session_.open_streams() == 0) {
    if (phase() != Phase::Idle) enter(Phase::Idle);
  } else if (has_head && !streams_.empty()) {
    enter(Phase::Processing);
  } else if (phase() != Phase::Header) {  // its timeout runs from the first byte
    enter(Phase::Header);
  }
}

template <class Stream>
void Http2Connection<Stream>::expire(Phase phase) {
  ++context_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (phase == Phase::Write) net::reset_on_close(stream_);
  if (phase == Phase::Idle && !is_writing_) {
    session_.terminate(http2::ErrorCode::NoError);
    const std::string_view bytes = session_.take_output();
    if constexpr (std::is_same_v<Stream, Socket>) {
      error_code ignored;  // best effort
      stream_.write_some(asio::buffer(bytes), ignored);
    }
  }
  abort();
}

template <class Stream>
void Http2Connection<Stream>::drain() {
  is_drained_ = true;
  session_.begin_shutdown();
  schedule_flush();
}

template <class Stream>
void Http2Connection<Stream>::close_when_idle() {
  is_drained_ ? session_.end_shutdown() : session_.begin_shutdown();
  schedule_flush();
}

template <class Stream>
void Http2Connection<Stream>::abort() {
  if (!std::exchange(open_, false)) return;
  for (const auto& [id, stream] : std::exchange(streams_, {})) stream->abandon();
  written_.cancel();
  linger_.cancel();
  error_code ignored;  // closing cannot be retried
  stream_.lowest_layer().close(ignored);
  unlink();
  context_->on_connection_closed();
}

template class Http2Connection<Socket>;
template class Http2Connection<TlsStream>;

}  // namespace penstock::gateway
