#include "wire/grpc/session.hpp"

#include "wire/grpc/protocol.hpp"
#include "wire/grpc/services.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace penstock::wire::grpc {
namespace {

using http2::Field;
using http2::static_field;

// Per connection: Watch and reflection calls keep buffers for as long as the client wants.
constexpr std::size_t kMaxStreaming = 16;
// Kept by a connection for its next calls.
constexpr std::size_t kKeptBytesOfConnection = std::size_t{64} << 10U;
constexpr std::size_t kKeptCalls = 128;
constexpr std::size_t kSmallCall = std::size_t{4} << 10U;
// The longest deadline of a decision, whatever the client allows.
constexpr Duration kLongestTimeout = std::chrono::minutes{1};

const Status kTooManyStreams{.code = StatusCode::ResourceExhausted, .message = "too many streams"};
const Status kStopping{.code = StatusCode::Unavailable, .message = "the server stops"};

}  // namespace

struct Session::CallHeaders {
  std::optional<Method> method{};
  std::string_view content_type{};
  Encoding encoding = Encoding::Identity;
  std::optional<std::string_view> timeout_text{};
  std::optional<Duration> timeout{};  // empty: the text cannot be read
};

Session::Session(ServerContext& server_context, Refunds refunds)
    : server_context_(server_context),
      refunds_(refunds),
      http2_session_(*this, server_context.http2_options) {}

Session::~Session() {
  for (std::unique_ptr<Call>& call : calls_) {
    if (call->state() != Call::State::AwaitingAnswer) continue;
    call->detach_session();
    static_cast<void>(call.release());  // reclaim() deletes it
  }
  server_context_.buffered -= held_;
}

std::size_t Session::max_message_bytes() const noexcept {
  return server_context_.max_message_bytes;
}

bool Session::account_buffer(std::size_t before, std::size_t now) noexcept {
  held_ += now - before;
  server_context_.buffered += now - before;
  return now <= before || !is_full(now);
}

// Calls with large messages leave room for small ones.
bool Session::is_full(std::size_t call_bytes) const noexcept {
  const auto exceeds = [call_bytes](std::size_t bytes, std::size_t most) {
    return bytes > (call_bytes > kSmallCall ? most : most + most / 4);
  };
  return exceeds(held_, server_context_.max_connection_buffer_bytes) ||
         exceeds(server_context_.buffered, server_context_.max_buffer_bytes);
}

bool Session::may_keep_buffers() const noexcept {
  return held_ <= kKeptBytesOfConnection &&
         server_context_.buffered <= server_context_.max_buffer_bytes / 2;
}

void Session::trim() {
  if (calls_.size() <= kKeptCalls || spare_.size() < calls_.size()) return;
  server_context_.buffered -= std::exchange(held_, 0);
  spare_.clear();
  calls_.clear();
  calls_.shrink_to_fit();
}

bool Session::receive(std::string_view bytes, base::Deadline now) {
  now_ = now;
  receiving_ = true;
  const bool goes_on = http2_session_.receive(bytes, now);
  receiving_ = false;
  return goes_on;
}

net::Step Session::advance() {
  if (std::exchange(must_flush_, false)) return net::Step::Write;
  return is_finished() ? net::Step::Close : net::Step::Read;
}

void Session::commit(std::size_t bytes) {
  must_flush_ = true;
  is_ping_outstanding_ = false;
  // After a protocol violation is_finished() is true.
  static_cast<void>(receive({read_buffer_.data(), bytes}, base::monotonic_now()));
}

// Only a request ends the idle time: pings, settings and unknown frames do not.
net::Activity Session::activity() {
  expire_requests();
  if (!is_established() || is_reading_head()) return {net::Phase::Header, 0};
  if (incomplete_ > 0) return {net::Phase::Body, 0};
  if (!is_idle()) return {net::Phase::Processing, ++turns_};
  trim();
  return {net::Phase::Idle, requests()};
}

// The time of incomplete requests runs from when the first of them arrived, whatever else the
// client sends.
void Session::expire_requests() {
  const base::Deadline now = base::monotonic_now();
  if (incomplete_ > 0 && next_expiry_ != base::Deadline{} && now >= next_expiry_) {
    expire(now);
    next_expiry_ = {};
  }
  if (incomplete_ == 0) {
    next_expiry_ = {};
  } else if (next_expiry_ == base::Deadline{}) {
    next_expiry_ = now + server_context_.request_timeout;
  }
}

// A client with calls in flight gets a ping, and another period to answer it.
net::TimeoutAction Session::on_timeout(net::Phase phase) {
  if (phase == net::Phase::Body) {
    next_expiry_ = base::monotonic_now();
    return net::TimeoutAction::Continue;
  }
  if (phase == net::Phase::Processing && !std::exchange(is_ping_outstanding_, true)) {
    send_ping();
    return net::TimeoutAction::Continue;
  }
  if (phase == net::Phase::Idle) send_goaway();
  return net::TimeoutAction::Abort;
}

void Session::wake() const {
  if (!receiving_ && on_output) on_output();
}

void Session::count_response(unsigned first_digit) {
  ++server_context_.state.statistics.responses.at(first_digit);
}

void Session::change(Call::State from, Call::State to) noexcept {
  if (from == Call::State::Receiving) --incomplete_;
  if (from == Call::State::Streaming) --streaming_;
  if (to == Call::State::Receiving) ++incomplete_;
  if (to == Call::State::Streaming) ++streaming_;
}

Session::CallHeaders Session::read_call_headers(const http2::RequestHead& head) const {
  CallHeaders headers{.method = find_method(head.path), .timeout = server_context_.request_timeout};
  for (const Field& field : head.fields) {
    if (field.name == "content-type") headers.content_type = field.value;
    if (field.name == "grpc-encoding") headers.encoding = parse_encoding(field.value);
    if (field.name == "grpc-timeout") headers.timeout_text = field.value;
  }
  if (headers.timeout_text) headers.timeout = parse_timeout(*headers.timeout_text);
  return headers;
}

http2::StreamEvents* Session::on_request(http2::StreamId stream, const http2::RequestHead& head) {
  const CallHeaders headers = read_call_headers(head);
  if (!is_grpc(stream, head, headers) || !can_start_call(stream, head, headers)) return nullptr;
  ++server_context_.state.statistics.requests;
  if (spare_.empty()) spare_.push_back(calls_.emplace_back(std::make_unique<Call>(*this)).get());
  Call& call = *spare_.back();
  spare_.pop_back();
  call.begin(stream, *headers.method, headers.encoding,
             {.answered = now_ + std::min(*headers.timeout, kLongestTimeout),
              .received = now_ + std::min(*headers.timeout, server_context_.receive_timeout)});
  return &call;
}

bool Session::is_grpc(http2::StreamId stream, const http2::RequestHead& head,
                      const CallHeaders& headers) {
  if (head.too_large) {  // the content type may be missing
    count_response(http_status_class(StatusCode::ResourceExhausted));
    refuse(stream,
           {.code = StatusCode::ResourceExhausted,
            .message = "metadata of more than " +
                       std::to_string(server_context_.http2_options.max_header_bytes) + " bytes"});
  } else if (head.method != "POST") {
    reject_http(stream, "405");
  } else if (!is_grpc_type(headers.content_type)) {
    reject_http(stream, "415");
  } else {
    return true;
  }
  return false;
}

bool Session::can_start_call(http2::StreamId stream, const http2::RequestHead& head,
                             const CallHeaders& headers) {
  Status status;
  if (!headers.method) {
    status = {.code = StatusCode::Unimplemented,
              .message = "there is no method " + std::string(head.path)};
  } else if (!headers.timeout) {
    status = {.code = StatusCode::InvalidArgument,
              .message = "grpc-timeout: " + std::string(*headers.timeout_text)};
  } else if (*headers.timeout <= Duration{0}) {
    status = {.code = StatusCode::DeadlineExceeded, .message = "grpc-timeout is 0"};
  } else if (!is_unary(*headers.method) && streaming_ >= kMaxStreaming) {
    status = kTooManyStreams;
  } else if (*headers.method == Method::Reflection && server_context_.state.stopping) {
    status = kStopping;
  }
  if (status.ok()) return true;
  count_response(http_status_class(status.code));
  refuse(stream, status);
  return false;
}

void Session::reject_http(http2::StreamId stream, std::string_view status) {
  count_response(4);
  const std::array head{static_field(":status", status), static_field("content-length", "0"),
                        static_field("allow", "POST")};
  http2_session_.respond(stream, std::span(head).first(status == "405" ? 3 : 2));
}

void Session::refuse(http2::StreamId stream, const Status& status) {
  const std::string message = percent_encoded(status.message);
  const std::array head{static_field(":status", "200"),
                        static_field("content-type", "application/grpc"),
                        static_field("grpc-status", digits_of(status.code)),
                        Field{.name = "grpc-message", .value = message},
                        static_field("grpc-accept-encoding", kAcceptedEncodings)};
  http2_session_.respond(stream, head);
}

void Session::answer(Call& call) {
  switch (call.method()) {
    case Method::ShouldRateLimit: return server_context_.limiter.decide(call);
    case Method::HealthCheck:
    case Method::HealthWatch: return answer_health(call);
    case Method::Reflection: return answer_reflection(call);
  }
}

void Session::answer_health(Call& call) const {
  const net::ServerState& state = server_context_.state;
  const bool serving = !state.draining && !state.stopping;
  if (call.method() == Method::HealthCheck) return check_health(call, serving);
  if (streaming_ >= kMaxStreaming) return call.end(kTooManyStreams);
  watch_health(call, serving);
  if (state.stopping) call.end(kStopping);
}

void Session::expire(base::Deadline now) {
  for (const std::unique_ptr<Call>& call : calls_) call->expire(now);
}

void Session::drain() {
  drained_ = true;
  http2_session_.begin_shutdown();
  for (const std::unique_ptr<Call>& call : calls_) {
    const bool is_watch =
        call->state() == Call::State::Streaming && call->method() == Method::HealthWatch;
    if (is_watch) send_not_serving(*call);
  }
  wake();
}

void Session::close_when_idle() {
  drained_ ? http2_session_.end_shutdown() : http2_session_.begin_shutdown();
  for (const std::unique_ptr<Call>& call : calls_) {
    if (call->state() != Call::State::Streaming) continue;
    const bool knows = server_context_.state.draining;
    if (call->method() == Method::HealthWatch && !knows) send_not_serving(*call);
    call->end(kStopping);
  }
  wake();
}

}  // namespace penstock::wire::grpc
