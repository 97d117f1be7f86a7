#include "gateway/http1/http1_connection.hpp"

#include "base/deadline.hpp"
#include "gateway/http1/response_text.hpp"
#include "gateway/http2/http2_session.hpp"
#include "http/response_text.hpp"
#include "net/lingering_close.hpp"
#include "net/server_connection.hpp"
#include "net/spawn.hpp"
#include "net/tls.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/socket_base.hpp>

#include <algorithm>
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
using net::Tcp;
using net::TlsStream;

// Most heads fit; 20 000 idle connections use 80 MB.
constexpr std::size_t kSmallBuffer = std::size_t{4} << 10U;
// Largest piece of a body that is forwarded at once.
constexpr std::size_t kBodyBuffer = std::size_t{16} << 10U;
// Reads before a client that keeps sending after the last response is disconnected.
constexpr std::size_t kLingerReads = 64;

constexpr HttpError kRequestTimeout{408, "the request did not arrive in time"};

}  // namespace

template <class Stream>
Http1Connection<Stream>::Http1Connection(std::shared_ptr<GatewayContext> context, Stream stream,
                                         net::Peer peer)
    : context_(std::move(context)),
      stream_(std::move(stream)),
      peer_(std::move(peer.address)),
      read_buffer_(stream_, kSmallBuffer,
                   std::max(kBodyBuffer, context_->settings.max_header_bytes + kSmallBuffer)),
      reader_({.bytes = context_->settings.max_header_bytes}),
      upload_(context_->settings.min_upload_rate, context_->settings.body_timeout),
      download_(context_->settings.min_download_rate, context_->settings.write_timeout) {
  const auto address = http::read_address(peer_);
  if (address && context_->trusted.contains(*address)) trust_ = Trust::Proxy;
  client_ = http::client_address(peer_, {}, context_->trusted);
  ++context_->statistics.open;
}

template <class Stream>
Http1Connection<Stream>::~Http1Connection() {
  if (open_) --context_->statistics.open;  // destroyed with the event loop
}

template <class Stream>
void Http1Connection<Stream>::start(const HttpError* rejection) {
  finishing_ = context_->stopping;
  read_buffer_.on_end = [this] {
    if (exchange_ != nullptr) exchange_->abandon();
  };
  enter(Phase::Idle);
  net::spawn(stream_.get_executor(), serve(this->shared_from_this(), rejection));
}

template <class Stream>
Awaitable<void> Http1Connection<Stream>::serve(std::shared_ptr<Http1Connection> self,
                                               const HttpError* rejection) {
  bool going = co_await self->tls_handshake();
  if (going && rejection != nullptr) {
    co_await self->reject(*rejection);
    going = false;
  }
  if (going && self->is_http2()) co_return self->switch_to_http2();
  while (going && self->open_) {
    going = co_await self->serve_one();
    if (self->is_http2()) co_return self->switch_to_http2();
  }
  if (self->open_) co_await self->lingering_close();
  self->abort();
}

template <class Stream>
Awaitable<bool> Http1Connection<Stream>::tls_handshake() {
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    enter(Phase::Handshake);
    const auto [failed] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kIo);
    if (failed) {
      ++context_->statistics.handshake_failures;
      abort();
    }
    co_return !failed && open_;
  }
  co_return true;
}

// HTTP/2 was negotiated by ALPN, or the first bytes are its preface.
template <class Stream>
bool Http1Connection<Stream>::is_http2() {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\n";
  if (!is_first_ || !open_) return false;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    return net::negotiated_protocol(stream_.native_handle()) == "h2";
  }
  return received().starts_with(kPreface);
}

// Moves the socket to a connection with an Http2Session.
template <class Stream>
void Http1Connection<Stream>::switch_to_http2() {
  open_ = false;
  unlink();
  --context_->statistics.open;  // the HTTP/2 connection counts itself
  context_->statistics.bytes_in += read_buffer_.total();
  const bool is_tls = std::is_same_v<Stream, TlsStream>;
  auto session = std::make_shared<Http2Session>(
      context_, stream_.get_executor(), peer_,
      Origin{.peer = {}, .scheme = is_tls ? "https" : "http", .trust = trust_});
  session->receive(received());
  net::continue_connection(context_, std::move(session), std::move(stream_), std::move(this->slot));
}

// Returns whether another request may follow.
template <class Stream>
Awaitable<bool> Http1Connection<Stream>::serve_one() {
  read_buffer_.shrink(kSmallBuffer);
  if (!co_await read_head()) co_return false;
  const RequestHead& head = reader_.head();
  version_ = head.version;
  decoder_ = BodyDecoder(head.body);
  piece_ = {};
  has_piece_ = false;
  close_after_response_ = !head.keeps_alive;
  upload_ = {context_->settings.min_upload_rate, context_->settings.body_timeout};
  download_ = {context_->settings.min_download_rate, context_->settings.write_timeout};
  const Caller asking = caller();
  Downstream& client = *this;
  exchange_ = std::make_shared<Exchange>(context_, client, stream_.get_executor());
  enter(Phase::Processing);
  co_await Exchange::run(exchange_, head, asking);
  exchange_.reset();
  if (head_bytes_ > 0) release_head();
  if (has_piece_) consume_body();
  co_return open_ && !close_after_response_ && !switched_ && decoder_.is_complete();
}

// False when there is no request; the client has received the error, if any.
template <class Stream>
Awaitable<bool> Http1Connection<Stream>::read_head() {
  while (open_) {
    const std::span<char> bytes = read_buffer_.bytes();
    if (is_http2()) co_return false;
    const ReadResult found = reader_.read({bytes.data(), bytes.size()});
    if (const auto* end = std::get_if<RequestHeadReader::End>(&found)) {
      head_bytes_ = end->bytes;
      is_first_ = false;  // an HTTP/2 preface is valid only at the start
      co_return true;
    }
    if (const auto* why = std::get_if<HttpError>(&found)) {
      is_first_ = false;
      co_await reject(*why);
      co_return false;
    }
    if (finishing_ && !is_first_ && bytes.empty()) co_return false;
    enter_reading();
    const bool more = co_await read_buffer_.more(this->shared_from_this());
    if (too_slow_) co_await reject(kRequestTimeout);
    if (!more) co_return false;
  }
  co_return false;
}

template <class Stream>
Caller Http1Connection<Stream>::caller() {
  if (trust_ == Trust::Proxy) {
    client_ = http::client_address(peer_, reader_.head().fields, context_->trusted);
  }
  const bool is_tls = std::is_same_v<Stream, TlsStream>;
  return {.origin = {.peer = peer_, .scheme = is_tls ? "https" : "http", .trust = trust_},
          .address = client_};
}

template <class Stream>
Awaitable<void> Http1Connection<Stream>::reject(HttpError why) {
  const http::Response response = to_response(why);
  std::vector<Field> fields;
  for (const auto& [name, value] : response.fields) fields.push_back({name, value});
  close_after_response_ = true;
  ++context_->statistics.responses.at(why.status / 100);
  const ClientResponseHead head{
      .status = why.status,
      .reason = http::reason_phrase(why.status),
      .fields = fields,
      .body = {.kind = BodyFraming::Kind::Length, .length = response.body.size()}};
  const SendResult result = send_head(head, response.body, Last::Yes, {});
  if (result == SendResult::Pending) static_cast<void>(co_await sent());
}

template <class Stream>
void Http1Connection<Stream>::enter(Phase phase) {
  if (open_) context_->timeouts.enter(*this, phase, base::monotonic_now());
}

// The header timeout runs from the first byte, across all reads.
template <class Stream>
void Http1Connection<Stream>::enter_reading() {
  Phase wanted = read_buffer_.bytes().empty() ? Phase::Idle : Phase::Header;
  if (wanted == Phase::Idle && awaits_first_request()) wanted = Phase::Linger;
  if (phase() != wanted) enter(wanted);
}

// Shuts down sending and waits briefly for the client to close: closing a socket with unread input
// sends a reset, which can destroy the response.
template <class Stream>
Awaitable<void> Http1Connection<Stream>::lingering_close() {
  enter(Phase::Linger);
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    const auto [unfinished] = co_await stream_.async_shutdown(kIo);
    if (unfinished) co_return;
  }
  error_code failed;
  stream_.lowest_layer().shutdown(Tcp::socket::shutdown_send, failed);
  for (std::size_t reads = 0; reads < kLingerReads && !failed && open_; ++reads) {
    read_buffer_.consume(read_buffer_.bytes().size());
    if (!co_await read_buffer_.more(this->shared_from_this())) co_return;
  }
}

template <class Stream>
void Http1Connection<Stream>::expire(Phase phase) {
  ++context_->statistics.timeouts.at(static_cast<std::size_t>(phase));
  if (phase == Phase::Write) net::reset_on_close(stream_);
  if (phase != Phase::Header && phase != Phase::Body) return abort();
  too_slow_ = phase == Phase::Header;
  close_after_response_ = true;
  read_buffer_.interrupt();
}

template <class Stream>
void Http1Connection<Stream>::close_when_idle() {
  finishing_ = true;
  if (phase() != Phase::Idle || !read_buffer_.bytes().empty()) return;
  error_code failed;  // the connection is already broken
  if (stream_.lowest_layer().available(failed) > 0) return;
  awaits_first_request() ? enter(Phase::Linger) : abort();
}

template <class Stream>
void Http1Connection<Stream>::abort() {
  if (!std::exchange(open_, false)) return;
  if (exchange_ != nullptr) exchange_->abandon();
  error_code ignored;  // closing cannot be retried
  stream_.lowest_layer().close(ignored);
  unlink();
  context_->statistics.bytes_in += read_buffer_.total();
  context_->on_connection_closed();
}

template <class Stream>
void Http1Connection<Stream>::release_head() {
  read_buffer_.consume(std::exchange(head_bytes_, 0));
  if (!decoder_.is_complete()) {
    read_buffer_.grow();
  } else if (!has_piece_) {
    read_buffer_.read_ahead(this->shared_from_this());
  }
}

template <class Stream>
Downstream::BodyPiece Http1Connection<Stream>::body() {
  if (switched_) {
    const bool is_last = received().empty() && read_buffer_.failure();
    return {.data = received(), .is_last = is_last};
  }
  if (!has_piece_) {
    if (decoder_.is_complete()) return {.is_last = true};
    piece_ = decoder_.decode(read_buffer_.bytes().subspan(head_bytes_));
    has_piece_ = true;
  }
  return {.data = piece_.data, .is_last = decoder_.is_complete(), .is_broken = piece_.is_broken};
}

template <class Stream>
void Http1Connection<Stream>::consume_body() {
  if (switched_) return read_buffer_.consume(received().size());
  if (!std::exchange(has_piece_, false)) return;
  read_buffer_.consume(piece_.used);
  if (decoder_.is_complete()) read_buffer_.read_ahead(this->shared_from_this());
}

template <class Stream>
Awaitable<bool> Http1Connection<Stream>::more_body() {
  if (switched_) {  // body() tells the end
    static_cast<void>(co_await read_buffer_.more(this->shared_from_this()));
    co_return true;
  }
  awaits_body_ = true;
  enter(Phase::Body);
  const base::Deadline began = base::monotonic_now();
  const std::size_t before = read_buffer_.total();
  bool more = co_await read_buffer_.more(this->shared_from_this());
  awaits_body_ = false;
  upload_.waited(base::monotonic_now() - began, read_buffer_.total() - before);
  if (more && upload_.is_too_slow()) {
    expire(Phase::Body);
    more = false;
  }
  if (phase() == Phase::Body || phase() == Phase::Closing) enter(Phase::Processing);
  if (read_buffer_.failure() && exchange_ != nullptr) exchange_->abandon();
  co_return more;
}

template <class Stream>
std::span<const Field> Http1Connection<Stream>::body_trailers() {
  trailers_ = decoder_.trailers();
  return trailers_;
}

template <class Stream>
SendResult Http1Connection<Stream>::send_interim(const ClientResponseHead& head) {
  text_.clear();
  append_interim(text_, head);
  unsent_ = {};
  unsent_.add(text_);
  return write_now();
}

template <class Stream>
SendResult Http1Connection<Stream>::send_head(const ClientResponseHead& head, std::string_view data,
                                              Last last, std::span<const Field> trailers) {
  framing_ = downstream_framing(head, version_);
  // Pipelined requests are answered before the connection is closed.
  const std::size_t of_this = head_bytes_ + (has_piece_ ? piece_.used : 0);
  const bool is_last = context_->draining && received().size() <= of_this;
  close_after_response_ = close_after_response_ || finishing_ || is_last || context_->stopping ||
                          !decoder_.is_complete() || framing_ == BodyFraming::Kind::UntilClose;
  text_.clear();
  append_response_head(text_, head, framing_, version_,
                       close_after_response_ ? AfterResponse::Close : AfterResponse::KeepAlive,
                       context_->date.at(context_->clock.now()));
  encoder_ = BodyEncoder(framing_);
  unsent_ = {};
  unsent_.add(text_);
  encoder_.add(unsent_, data, last, trailers);
  return write_now();
}

template <class Stream>
SendResult Http1Connection<Stream>::send_body(std::string_view data, Last last,
                                              std::span<const Field> trailers) {
  unsent_ = {};
  encoder_.add(unsent_, data, last, trailers);
  if (switched_ && last == Last::Yes) end_sending();
  return write_now();
}

// Writes what the socket accepts without blocking, which saves an event-loop turn for most
// responses.
template <class Stream>
SendResult Http1Connection<Stream>::write_now() {
  if (!open_) return SendResult::Disconnected;
  if constexpr (std::is_same_v<Stream, Socket>) {
    if (!unsent_.is_empty()) {
      error_code failed;  // reported again by the next write
      const std::size_t size = stream_.write_some(unsent_.parts(), failed);
      context_->statistics.bytes_out += size;
      download_.waited({}, size);
      unsent_.remove(size);
    }
  }
  return unsent_.is_empty() ? SendResult::Sent : SendResult::Pending;
}

template <class Stream>
Awaitable<bool> Http1Connection<Stream>::sent() {
  while (!unsent_.is_empty() && open_) {
    enter(Phase::Write);  // restarts whenever the client reads
    const base::Deadline began = base::monotonic_now();
    const auto parts = unsent_.parts();
    const auto [failed, size] = co_await stream_.async_write_some(parts, kIo);
    context_->statistics.bytes_out += size;
    unsent_.remove(size);
    download_.waited(base::monotonic_now() - began, size);
    if (failed) {
      abort();
      co_return false;
    }
    if (!switched_ && download_.is_too_slow()) {  // tunnels have their own timeout
      expire(Phase::Write);
      co_return false;
    }
  }
  enter(awaits_body_ ? Phase::Body : Phase::Processing);
  co_return open_;
}

// Without a reset, a client could take a truncated body that ends with the connection for complete.
template <class Stream>
void Http1Connection<Stream>::abort_response() {
  if (!open_) return;
  if (framing_ == BodyFraming::Kind::UntilClose) {
    error_code ignored;  // then it is closed normally
    stream_.lowest_layer().set_option(asio::socket_base::linger(true, 0), ignored);
  }
  abort();
}

template <class Stream>
std::string_view Http1Connection<Stream>::received() {
  return {read_buffer_.bytes().data(), read_buffer_.bytes().size()};
}

template <class Stream>
SendResult Http1Connection<Stream>::switch_protocols(std::string_view head) {
  switched_ = true;
  encoder_ = BodyEncoder(BodyFraming::Kind::UntilClose);
  unsent_ = {};
  unsent_.add(head);
  return write_now();
}

// TLS has no half-close.
template <class Stream>
void Http1Connection<Stream>::end_sending() {
  if constexpr (std::is_same_v<Stream, Socket>) {
    error_code ignored;  // the connection is already broken
    stream_.shutdown(Tcp::socket::shutdown_send, ignored);
  } else {
    abort();
  }
}

template class Http1Connection<Socket>;
template class Http1Connection<TlsStream>;

}  // namespace penstock::gateway
