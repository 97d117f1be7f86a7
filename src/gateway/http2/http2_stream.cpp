#include "gateway/http2/http2_stream.hpp"

#include "base/deadline.hpp"
#include "gateway/http1/fields.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {

using net::Awaitable;
using net::kIo;

Http2Stream::Http2Stream(std::shared_ptr<GatewayContext> context, Http2ConnectionHandle& handle,
                         http2::StreamId id, Http2Request request, const net::Executor& executor)
    : context_(std::move(context)),
      handle_(&handle),
      id_(id),
      request_(std::move(request)),
      arrived_(executor),
      drained_(executor),
      upload_(context_->config->settings.min_upload_rate, context_->config->settings.body_timeout),
      download_(context_->config->settings.min_download_rate,
                context_->config->settings.write_timeout) {}

Awaitable<void> Http2Stream::serve(std::shared_ptr<Http2Stream> self, Origin origin,
                                   std::string peer) {
  self->peer_ = std::move(peer);
  origin.peer = self->peer_;
  const std::vector<Field>& fields = self->request_.head().fields;
  self->client_ = http::client_address(self->peer_, fields, self->context_->config->trusted);
  const Caller caller{.origin = origin, .address = self->client_};
  Downstream& client = *self;
  const net::Executor executor = self->arrived_.get_executor();
  self->exchange_ = std::make_shared<Exchange>(self->context_, client, executor);
  co_await Exchange::run(self->exchange_, self->request_.head(), caller);
  self->exchange_.reset();
  if (self->handle_ != nullptr && !self->is_closed_) self->handle_->schedule_flush();
}

void Http2Stream::abandon() {
  handle_ = nullptr;
  is_closed_ = true;
  if (exchange_ != nullptr) exchange_->abandon();
  arrived_.cancel();
  drained_.cancel();
}

void Http2Stream::on_data(std::string_view bytes) {
  received_ += bytes;
  arrived_.cancel();
}

void Http2Stream::on_trailers(std::span<const http2::Field> fields) {
  std::size_t bytes = 0;
  for (const http2::Field& field : fields) bytes += field.name.size() + field.value.size();
  in_trailer_text_.reserve(bytes);  // so that views stay valid
  const auto keep = [&](std::string_view text) {
    in_trailer_text_ += text;
    return std::string_view(in_trailer_text_).substr(in_trailer_text_.size() - text.size());
  };
  for (const http2::Field& field : fields) {
    const bool is_clean =
        is_token(field.name) && std::none_of(field.value.begin(), field.value.end(), is_control);
    if (!is_clean) continue;
    const std::string_view name = keep(field.name);
    in_trailers_.push_back({.name = name, .value = keep(field.value)});
  }
}

void Http2Stream::interrupt_body() {
  is_interrupted_ = true;
  arrived_.cancel();
}

void Http2Stream::on_end() {
  has_ended_ = true;
  arrived_.cancel();
}

void Http2Stream::on_closed(http2::ErrorCode /*why*/) {
  if (handle_ != nullptr) handle_->closed.push_back(id_);
  if (!is_last_ || !out_.empty()) return abandon();
  // The client has the whole response; the exchange ends by itself and keeps its upstream
  // connection.
  handle_ = nullptr;
  is_closed_ = true;
  arrived_.cancel();
  drained_.cancel();
}

Downstream::BodyPiece Http2Stream::body() {
  if (request_.head().body.kind == BodyFraming::Kind::None) return {.is_last = true};
  is_interrupted_ = false;
  if (shown_.empty()) shown_.swap(received_);
  return {.data = shown_, .is_last = has_ended_ && received_.empty()};
}

void Http2Stream::consume_body() {
  if (shown_.empty()) return;
  if (handle_ != nullptr && !is_closed_) {
    handle_->session.consume(id_, shown_.size());
    handle_->schedule_flush();
  }
  shown_.clear();
}

Awaitable<bool> Http2Stream::more_body() {
  const auto self = shared_from_this();
  if (has_ended_ || !received_.empty() || !shown_.empty()) co_return true;
  if (is_closed_ || is_interrupted_) co_return false;
  const base::Deadline began = base::monotonic_now();
  arrived_.expires_after(context_->config->settings.body_timeout);
  co_await arrived_.async_wait(kIo);
  upload_.waited(base::monotonic_now() - began, received_.size());
  if (upload_.is_too_slow() && !has_ended_) co_return false;
  co_return !received_.empty() || has_ended_;
}

SendResult Http2Stream::send_interim(const ClientResponseHead& head) {
  if (is_closed_) return SendResult::Disconnected;
  handle_->session.send_interim(id_, http2_fields(head, names_, {}));
  return flush();
}

SendResult Http2Stream::send_head(const ClientResponseHead& head, std::string_view data, Last last,
                                  std::span<const Field> trailers) {
  if (is_closed_) return SendResult::Disconnected;
  const std::string_view date = context_->date.at(context_->clock.now());
  const std::vector<http2::Field> fields = http2_fields(head, names_, date);
  if (last == Last::Yes && data.empty() && trailers.empty()) {
    handle_->session.respond(id_, fields);
  } else {
    set_output(data, last, trailers);
    handle_->session.respond(id_, fields, this);
  }
  return flush();
}

SendResult Http2Stream::send_body(std::string_view data, Last last,
                                  std::span<const Field> trailers) {
  if (is_closed_) return SendResult::Disconnected;
  set_output(data, last, trailers);
  handle_->session.resume(id_);
  return flush();
}

void Http2Stream::set_output(std::string_view data, Last last, std::span<const Field> trailers) {
  out_ = data;
  is_last_ = last == Last::Yes;
  keep_trailers(trailers);
}

SendResult Http2Stream::flush() {
  handle_->schedule_flush();
  return out_.empty() ? SendResult::Sent : SendResult::Pending;
}

void Http2Stream::keep_trailers(std::span<const Field> trailers) {
  out_trailers_.clear();
  trailer_text_.clear();
  std::size_t bytes = 0;
  for (const Field& field : trailers) bytes += field.name.size() + field.value.size();
  trailer_text_.reserve(bytes);
  for (const Field& field : trailers) {
    const std::size_t begin = trailer_text_.size();
    trailer_text_ += lower_case(field.name);
    const std::string_view name = std::string_view(trailer_text_).substr(begin);
    trailer_text_ += field.value;
    out_trailers_.push_back(
        {.name = name, .value = std::string_view(trailer_text_).substr(begin + name.size())});
  }
}

// Waits until the client has opened its window for all output. The timeout restarts on progress.
Awaitable<bool> Http2Stream::sent() {
  const auto self = shared_from_this();
  while (!is_closed_ && !out_.empty()) {
    const std::size_t before = out_.size();
    const base::Deadline began = base::monotonic_now();
    drained_.expires_after(context_->config->settings.write_timeout);
    co_await drained_.async_wait(kIo);
    download_.waited(base::monotonic_now() - began, before - out_.size());
    const bool is_stuck = out_.size() == before || download_.is_too_slow();
    if (is_stuck && !is_closed_) {
      ++context_->statistics.timeouts.at(static_cast<std::size_t>(net::Phase::Write));
      abort_response();
      co_return false;
    }
  }
  co_return out_.empty();
}

http2::BodySource::Portion Http2Stream::read(std::span<char> room) {
  const std::size_t size = std::min(room.size(), out_.size());
  std::copy_n(out_.begin(), size, room.begin());
  out_.remove_prefix(size);
  drained_.cancel();
  if (!out_.empty()) return {.size = size, .after = After::More};
  return {.size = size, .after = is_last_ ? After::End : After::Deferred};
}

void Http2Stream::abort_response() {
  if (is_closed_) return;
  handle_->session.reset(id_, http2::ErrorCode::InternalError);
  handle_->schedule_flush();
}

}  // namespace penstock::gateway
