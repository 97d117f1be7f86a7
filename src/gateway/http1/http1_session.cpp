#include "gateway/http1/http1_session.hpp"

#include "base/deadline.hpp"
#include "base/text.hpp"
#include "gateway/http1/message_writer.hpp"
#include "http/response_text.hpp"
#include "net/asio_types.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::Phase;
using net::Step;

// Most heads fit; 20 000 idle connections use 80 MB.
constexpr std::size_t kSmallBuffer = std::size_t{4} << 10U;
// Largest piece of a body that is forwarded at once; output that waits for the client.
constexpr std::size_t kBodyBuffer = std::size_t{16} << 10U;

// Smaller pieces of a body are copied, to be sent in one write with what comes before.
constexpr std::size_t kMinLent = std::size_t{4} << 10U;

constexpr HttpError kRequestTimeout{408, "the request did not arrive in time"};
constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\n";

}  // namespace

Http1Session::Http1Session(std::shared_ptr<GatewayContext> context, net::Executor executor,
                           std::string peer, std::string_view scheme)
    : context_(std::move(context)),
      executor_(std::move(executor)),
      peer_(std::move(peer)),
      scheme_(scheme),
      input_(kSmallBuffer,
             std::max(kBodyBuffer, context_->config->settings.max_header_bytes + kSmallBuffer)),
      reader_(context_->config->settings.max_header_bytes),
      upload_(context_->config->settings.min_upload_rate, context_->config->settings.body_timeout),
      download_(context_->config->settings.min_download_rate,
                context_->config->settings.write_timeout) {
  reload();
}

void Http1Session::reload() {
  trust_ = context_->config->trust_in(peer_);
  is_client_known_ = false;
}

Step Http1Session::advance() {
  advancing_ = true;
  if (awaits_body_ && !input_.is_empty()) body_arrived_.wake();
  while (state_ == State::Head && out_.size() < kBodyBuffer && read_request()) start_exchange();
  advancing_ = false;
  if (is_http2_ && state_ == State::Head) return Step::Switch;
  switch (state_) {
    case State::Head: return out_.empty() ? Step::Read : Step::Write;
    case State::Exchange:
    case State::Tunnel: return wants_input() ? Step::Read : Step::Wait;
    case State::Finished: break;
  }
  return Step::Close;
}

// Bytes of the request stay where they are while its exchange uses them.
bool Http1Session::wants_input() const noexcept {
  if (head_bytes_ > 0 || has_piece_ || input_ended_) return false;
  const bool awaits_end = state_ == State::Exchange && decoder_.is_complete();
  return awaits_end ? input_.is_empty() : awaits_body_;
}

// Whether there is a request to serve.
bool Http1Session::read_request() {
  // An HTTP/2 preface is valid only at the start.
  is_http2_ = is_http2_ || (requests_ == 0 && received().starts_with(kHttp2Preface));
  if (is_http2_) return false;
  const RequestHeadReader::ReadResult found = reader_.read(received());
  if (const auto* end = std::get_if<RequestHeadReader::End>(&found)) {
    head_bytes_ = end->bytes;
    ++requests_;
    return true;
  }
  if (const auto* why = std::get_if<HttpError>(&found)) {
    reject(*why);
  } else if (context_->stopping && requests_ > 0 && input_.is_empty()) {
    state_ = State::Finished;
  }
  return false;
}

void Http1Session::start_exchange() {
  const RequestHead& head = reader_.head();
  state_ = State::Exchange;
  version_ = head.version;
  decoder_ = BodyDecoder(head.body);
  close_after_response_ = !head.keeps_alive;
  upload_ = {context_->config->settings.min_upload_rate, context_->config->settings.body_timeout};
  download_ = {context_->config->settings.min_download_rate,
               context_->config->settings.write_timeout};
  if (std::exchange(is_serving_, true)) return request_arrived_.wake();
  net::spawn(executor_, serve(shared_from_this()));
}

Awaitable<void> Http1Session::serve(std::shared_ptr<Http1Session> self) {
  while (!self->detached_ && self->state_ == State::Exchange) {
    Downstream& client = *self;
    self->exchange_ = std::make_shared<Exchange>(self->context_, client, self->executor_);
    const Caller caller = self->caller();
    co_await Exchange::run(self->exchange_, self->reader_.head(), caller);
    self->end_exchange();  // may find the next request
    if (!self->detached_ && self->state_ == State::Head) {
      co_await self->request_arrived_.wait();
    }
  }
}

void Http1Session::end_exchange() {
  exchange_.reset();
  release_head();
  consume_body();
  const bool goes_on =
      state_ == State::Exchange && !close_after_response_ && decoder_.is_complete();
  state_ = goes_on ? State::Head : State::Finished;
  notify();
}

Caller Http1Session::caller() {
  if (!std::exchange(is_client_known_, trust_ != Trust::Proxy)) {
    client_ = http::client_address(peer_, reader_.head().fields, context_->config->trusted);
  }
  return {.origin = {.peer = peer_, .scheme = scheme_, .trust = trust_}, .address = client_};
}

void Http1Session::reject(HttpError why) {
  const http::Response response = to_response(why);
  append_response(out_, response, context_->date.at(context_->clock.now()),
                  http::ConnectionHeader::Close, http::BodyPart::Sent);
  ++context_->statistics.responses.at(why.status / 100);
  state_ = State::Finished;
}

std::span<char> Http1Session::prepare() {
  if (state_ == State::Head) input_.shrink(kSmallBuffer);
  return input_.prepare();
}

// What was taken before is sent: an idle connection does not hold a large response.
std::string_view Http1Session::take_output() {
  if (std::exchange(is_lent_taken_, false)) lent_ = {};
  if (!lent_.empty()) {
    is_lent_taken_ = true;
    return lent_;
  }
  if (state_ == State::Head && sending_.capacity() > kSmallBuffer) base::free_string(sending_);
  sending_.clear();
  std::swap(out_, sending_);
  if (output_taken_.has_waiter()) output_taken_.wake_later();
  if (sending_.empty() && std::exchange(ends_output_, false) && on_close) {
    on_close(net::CloseMode::Sending);
  }
  return sending_;
}

bool Http1Session::on_sent(std::chrono::nanoseconds waited, std::size_t bytes) noexcept {
  download_.waited(waited, bytes);
  return state_ == State::Tunnel || !download_.is_too_slow();  // tunnels have their own timeout
}

net::Activity Http1Session::activity() const noexcept {
  switch (state_) {
    case State::Finished: return {Phase::Write, requests_};
    case State::Tunnel: return {Phase::Processing, requests_};
    case State::Exchange:
      return awaits_body_ ? net::Activity{Phase::Body, waits_}
                          : net::Activity{Phase::Processing, requests_};
    case State::Head: break;
  }
  if (!input_.is_empty()) return {Phase::Header, requests_};
  // While stopping, a connection that never sent a request is kept briefly: one may be in transit.
  const bool is_last = context_->stopping && requests_ == 0;
  return {is_last ? Phase::Linger : Phase::Idle, requests_};
}

net::TimeoutAction Http1Session::on_timeout(Phase phase) {
  if (phase != Phase::Header && phase != Phase::Body) return net::TimeoutAction::Abort;
  if (phase == Phase::Header) {
    reject(kRequestTimeout);
  } else {  // the exchange answers
    close_after_response_ = true;
    input_ended_ = true;
    body_arrived_.wake();
  }
  return net::TimeoutAction::Reject;
}

bool Http1Session::on_end() {
  input_ended_ = true;
  if (state_ != State::Tunnel) return false;
  if (awaits_body_) body_arrived_.wake();
  return true;
}

void Http1Session::detach() {
  detached_ = true;
  on_output = nullptr;
  on_close = nullptr;
  if (exchange_ != nullptr) exchange_->abandon();
  request_arrived_.drop_waiter();
  body_arrived_.wake_later();
  output_taken_.wake_later();
}

std::string_view Http1Session::received() noexcept {
  return {input_.bytes().data(), input_.bytes().size()};
}

// NOLINTNEXTLINE(readability-make-member-function-const): the callback takes the output
void Http1Session::notify() {
  if (!advancing_ && on_output) on_output();
}

bool Http1Session::is_output_full() const noexcept {
  return out_.size() >= kBodyBuffer || !lent_.empty();
}

SendResult Http1Session::flush() {
  notify();
  if (detached_) return SendResult::Disconnected;
  return is_output_full() ? SendResult::Pending : SendResult::Sent;
}

void Http1Session::release_head() {
  if (head_bytes_ == 0) return;
  input_.consume(std::exchange(head_bytes_, 0));
  if (!decoder_.is_complete()) return input_.grow();
  if (!has_piece_) notify();
}

Downstream::BodyPiece Http1Session::body() {
  if (state_ == State::Tunnel) {
    piece_ = {.data = received(), .used = input_.bytes().size()};
    has_piece_ = true;
    return {.data = piece_.data, .is_last = piece_.data.empty() && input_ended_};
  }
  if (!has_piece_) {
    if (decoder_.is_complete()) return {.is_last = true};
    piece_ = decoder_.decode(input_.bytes().subspan(head_bytes_));
    has_piece_ = true;
  }
  return {.data = piece_.data, .is_last = decoder_.is_complete(), .is_broken = piece_.is_broken};
}

void Http1Session::consume_body() {
  if (!std::exchange(has_piece_, false)) return;
  input_.consume(piece_.used);
  if (decoder_.is_complete()) notify();
}

Awaitable<bool> Http1Session::more_body() {
  const auto self = shared_from_this();
  if (detached_) co_return false;
  awaits_body_ = true;
  ++waits_;
  const base::Deadline began = base::monotonic_now();
  const std::size_t before = input_.total();
  notify();
  if (!detached_) {
    co_await body_arrived_.wait();
  }
  awaits_body_ = false;
  if (state_ == State::Tunnel) co_return true;  // body() tells the end
  const std::size_t arrived = input_.total() - before;
  upload_.waited(base::monotonic_now() - began, arrived);
  if (arrived > 0 && upload_.is_too_slow()) {
    ++context_->statistics.timeouts.at(static_cast<std::size_t>(Phase::Body));
    close_after_response_ = true;
    input_ended_ = true;
    co_return false;
  }
  co_return arrived > 0;
}

std::span<const Field> Http1Session::body_trailers() {
  trailers_ = decoder_.trailers();
  return trailers_;
}

SendResult Http1Session::send_interim(const ClientResponseHead& head) {
  append_interim(out_, head);
  return flush();
}

SendResult Http1Session::send_head(const ClientResponseHead& head, std::string_view data, Last last,
                                   std::span<const Field> trailers) {
  framing_ = downstream_framing(head, version_);
  // Pipelined requests are answered before the connection is closed.
  const std::size_t of_this = head_bytes_ + (has_piece_ ? piece_.used : 0);
  const bool is_last = context_->draining && received().size() <= of_this;
  close_after_response_ = close_after_response_ || is_last || context_->stopping ||
                          !decoder_.is_complete() || framing_ == BodyFraming::Kind::UntilClose;
  append_response_head(out_, head, framing_, version_,
                       close_after_response_ ? AfterResponse::Close : AfterResponse::KeepAlive,
                       context_->date.at(context_->clock.now()));
  return send_body(data, last, trailers);
}

// The end of a response is sent when its exchange ends, which is at once unless it has to stop an
// upload.
SendResult Http1Session::send_body(std::string_view data, Last last,
                                   std::span<const Field> trailers) {
  using Kind = BodyFraming::Kind;
  const bool is_raw = framing_ == Kind::Length || framing_ == Kind::UntilClose;
  if (data.size() >= kMinLent && is_raw && out_.empty() && scheme_ == "http") {
    lent_ = data;  // TLS copies it anyway
  } else {
    append_body(data, last, trailers);
  }
  if (state_ == State::Tunnel && last == Last::Yes) ends_output_ = true;
  const bool ends = state_ == State::Exchange && last == Last::Yes && decoder_.is_complete();
  return ends && lent_.empty() && !detached_ ? SendResult::Sent : flush();
}

void Http1Session::append_body(std::string_view data, Last last, std::span<const Field> trailers) {
  BodyEncoder encoder(framing_);
  BufferSequence parts;
  encoder.add(parts, data, last, trailers);
  for (const boost::asio::const_buffer& part : parts.parts()) {
    out_.append(static_cast<const char*>(part.data()), part.size());
  }
}

Awaitable<bool> Http1Session::sent() {
  const auto self = shared_from_this();
  while (!detached_ && is_output_full()) {
    co_await output_taken_.wait();
  }
  co_return !detached_;
}

// Without a reset, a client could take a truncated body that ends with the connection for complete.
void Http1Session::abort_response() {
  if (!on_close) return;
  const bool resets = state_ == State::Exchange && framing_ == BodyFraming::Kind::UntilClose;
  on_close(resets ? net::CloseMode::Reset : net::CloseMode::Now);
}

SendResult Http1Session::switch_protocols(std::string_view head) {
  state_ = State::Tunnel;
  framing_ = BodyFraming::Kind::UntilClose;
  out_.append(head);
  return flush();
}

}  // namespace penstock::gateway
