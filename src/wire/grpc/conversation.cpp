#include "wire/grpc/conversation.hpp"

#include "wire/grpc/health.hpp"
#include "wire/grpc/reflection.hpp"
#include "wire/grpc/timeout.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace penstock::wire::grpc {
namespace {

using http2::Field;
using http2::lasting_field;

// Of one connection at a time: what watches and reflects keeps buffers for as long as it likes.
constexpr std::size_t kMaxStreaming = 16;
// What a connection keeps for its next calls.
constexpr std::size_t kKeptBytesOfConnection = std::size_t{64} << 10U;
constexpr std::size_t kKeptCalls = 128;
constexpr std::size_t kSmallCall = std::size_t{4} << 10U;
// A client that wants to wait longer than this for a decision gets it no later.
constexpr Duration kLongestTimeout = std::chrono::minutes{1};

const Status kTooManyStreams{.code = StatusCode::ResourceExhausted, .message = "too many streams"};
const Status kStopping{.code = StatusCode::Unavailable, .message = "the server stops"};

}  // namespace

struct Conversation::Terms {
  std::optional<Method> method{};
  std::string_view content_type{};
  Encoding encoding = Encoding::Identity;
  std::optional<std::string_view> timeout_text{};
  std::optional<Duration> timeout{};  // empty: the text cannot be read
};

Conversation::Conversation(Surroundings& surroundings, Refunds refunds)
    : surroundings_(surroundings), refunds_(refunds), session_(*this, surroundings.session) {}

Conversation::~Conversation() {
  for (std::unique_ptr<Call>& call : calls_) {
    if (call->state() != Call::State::Asking) continue;
    call->orphan();
    static_cast<void>(call.release());  // heard() deletes it
  }
  surroundings_.buffered -= held_;
}

std::size_t Conversation::max_message_bytes() const noexcept {
  return surroundings_.max_message_bytes;
}

bool Conversation::hold(std::size_t before, std::size_t now) noexcept {
  held_ += now - before;
  surroundings_.buffered += now - before;
  return now <= before || !is_full(now);
}

// Calls with large messages leave room for those with small ones.
bool Conversation::is_full(std::size_t call_bytes) const noexcept {
  const auto exceeds = [call_bytes](std::size_t bytes, std::size_t most) {
    return bytes > (call_bytes > kSmallCall ? most : most + most / 4);
  };
  return exceeds(held_, surroundings_.max_connection_buffer_bytes) ||
         exceeds(surroundings_.buffered, surroundings_.max_buffer_bytes);
}

bool Conversation::may_keep_buffers() const noexcept {
  return held_ <= kKeptBytesOfConnection &&
         surroundings_.buffered <= surroundings_.max_buffer_bytes / 2;
}

void Conversation::trim() {
  if (calls_.size() <= kKeptCalls || spare_.size() < calls_.size()) return;
  surroundings_.buffered -= std::exchange(held_, 0);
  spare_.clear();
  calls_.clear();
  calls_.shrink_to_fit();
}

bool Conversation::receive(std::string_view bytes, base::Deadline now) {
  now_ = now;
  receiving_ = true;
  const bool goes_on = session_.receive(bytes, now);
  receiving_ = false;
  return goes_on;
}

void Conversation::wake() const {
  if (!receiving_ && on_output) on_output();
}

void Conversation::count_answer(unsigned first_digit) {
  ++surroundings_.room.statistics.responses.at(first_digit);
}

void Conversation::change(Call::State from, Call::State to) noexcept {
  if (from == Call::State::Receiving) --incomplete_;
  if (from == Call::State::Streaming) --streaming_;
  if (to == Call::State::Receiving) ++incomplete_;
  if (to == Call::State::Streaming) ++streaming_;
}

Conversation::Terms Conversation::read_terms(const http2::RequestHead& head) const {
  Terms terms{.method = find_method(head.path), .timeout = surroundings_.request_timeout};
  for (const Field& field : head.fields) {
    if (field.name == "content-type") terms.content_type = field.value;
    if (field.name == "grpc-encoding") terms.encoding = parse_encoding(field.value);
    if (field.name == "grpc-timeout") terms.timeout_text = field.value;
  }
  if (terms.timeout_text) terms.timeout = parse_timeout(*terms.timeout_text);
  return terms;
}

http2::StreamEvents* Conversation::on_request(http2::StreamId stream,
                                              const http2::RequestHead& head) {
  const Terms terms = read_terms(head);
  if (!is_grpc(stream, head, terms) || !admits(stream, head, terms)) return nullptr;
  ++surroundings_.room.statistics.requests;
  if (spare_.empty()) spare_.push_back(calls_.emplace_back(std::make_unique<Call>(*this)).get());
  Call& call = *spare_.back();
  spare_.pop_back();
  call.begin(stream, *terms.method, terms.encoding,
             {.answered = now_ + std::min(*terms.timeout, kLongestTimeout),
              .received = now_ + std::min(*terms.timeout, surroundings_.receive_timeout)});
  return &call;
}

bool Conversation::is_grpc(http2::StreamId stream, const http2::RequestHead& head,
                           const Terms& terms) {
  if (head.too_large) {  // the content type may be among what is missing
    count_answer(class_of(StatusCode::ResourceExhausted));
    refuse(stream, {.code = StatusCode::ResourceExhausted,
                    .message = "metadata of more than " +
                               std::to_string(surroundings_.session.max_header_bytes) + " bytes"});
  } else if (head.method != "POST") {
    refuse_http(stream, "405");
  } else if (!is_grpc_type(terms.content_type)) {
    refuse_http(stream, "415");
  } else {
    return true;
  }
  return false;
}

bool Conversation::admits(http2::StreamId stream, const http2::RequestHead& head,
                          const Terms& terms) {
  Status status;
  if (!terms.method) {
    status = {.code = StatusCode::Unimplemented,
              .message = "there is no method " + std::string(head.path)};
  } else if (!terms.timeout) {
    status = {.code = StatusCode::InvalidArgument,
              .message = "grpc-timeout: " + std::string(*terms.timeout_text)};
  } else if (*terms.timeout <= Duration{0}) {
    status = {.code = StatusCode::DeadlineExceeded, .message = "grpc-timeout is 0"};
  } else if (!is_unary(*terms.method) && streaming_ >= kMaxStreaming) {
    status = kTooManyStreams;
  } else if (*terms.method == Method::Reflection && surroundings_.room.stopping) {
    status = kStopping;
  }
  if (status.ok()) return true;
  count_answer(class_of(status.code));
  refuse(stream, status);
  return false;
}

void Conversation::refuse_http(http2::StreamId stream, std::string_view status) {
  count_answer(4);
  const std::array head{lasting_field(":status", status), lasting_field("content-length", "0"),
                        lasting_field("allow", "POST")};
  session_.respond(stream, std::span(head).first(status == "405" ? 3 : 2));
}

void Conversation::refuse(http2::StreamId stream, const Status& status) {
  const std::string message = percent_encoded(status.message);
  const std::array head{lasting_field(":status", "200"),
                        lasting_field("content-type", "application/grpc"),
                        lasting_field("grpc-status", digits_of(status.code)),
                        Field{.name = "grpc-message", .value = message},
                        lasting_field("grpc-accept-encoding", kAcceptedEncodings)};
  session_.respond(stream, head);
}

void Conversation::answer(Call& call) {
  switch (call.method()) {
    case Method::ShouldRateLimit: return surroundings_.limiter.ask(call);
    case Method::HealthCheck:
    case Method::HealthWatch: return answer_health(call);
    case Method::Reflection: return answer_reflection(call);
  }
}

void Conversation::answer_health(Call& call) const {
  const net::Room& room = surroundings_.room;
  const bool serving = !room.draining && !room.stopping;
  if (call.method() == Method::HealthCheck) return check_health(call, serving);
  if (streaming_ >= kMaxStreaming) return call.end(kTooManyStreams);
  watch_health(call, serving);
  if (room.stopping) call.end(kStopping);
}

void Conversation::expire(base::Deadline now) {
  for (const std::unique_ptr<Call>& call : calls_) call->expire(now);
}

void Conversation::drain() {
  drained_ = true;
  session_.begin_shutdown();
  for (const std::unique_ptr<Call>& call : calls_) {
    const bool is_watch =
        call->state() == Call::State::Streaming && call->method() == Method::HealthWatch;
    if (is_watch) send_not_serving(*call);
  }
  wake();
}

void Conversation::finish() {
  drained_ ? session_.end_shutdown() : session_.begin_shutdown();
  for (const std::unique_ptr<Call>& call : calls_) {
    if (call->state() != Call::State::Streaming) continue;
    const bool knows = surroundings_.room.draining;
    if (call->method() == Method::HealthWatch && !knows) send_not_serving(*call);
    call->end(kStopping);
  }
  wake();
}

}  // namespace penstock::wire::grpc
