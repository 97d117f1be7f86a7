#include "wire/grpc/call.hpp"

#include "base/text.hpp"
#include "wire/grpc/message_reader.hpp"
#include "wire/grpc/session.hpp"

#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <utility>

namespace penstock::wire::grpc {
namespace {

using http2::Field;
using http2::static_field;
using Progress = MessageReader::Progress;

constexpr std::array kHead{static_field(":status", "200"),
                           static_field("content-type", "application/grpc")};
constexpr std::array kOkTrailers{static_field("grpc-status", "0")};

// Bytes of a buffer that are kept for the next call.
constexpr std::size_t kRetainedBytes = std::size_t{4} << 10U;
// Responses that a client does not read; only streams can collect them.
constexpr std::size_t kMaxUnread = std::size_t{256} << 10U;

}  // namespace

void Call::begin(http2::StreamId stream, Method method, Encoding encoding,
                 const Deadlines& deadlines) {
  stream_ = stream;
  method_ = method;
  encoding_ = encoding;
  deadlines_ = deadlines;
  started_ = ended_ = closed_ = false;
  reader_.begin(session_->max_message_bytes(), encoding == Encoding::Gzip
                                                   ? MessageReader::Compression::Accepted
                                                   : MessageReader::Compression::Rejected);
  out_.clear();
  sent_ = 0;
  enter(method == Method::Reflection ? State::Streaming : State::Receiving);
}

void Call::enter(State state) {
  session_->change(state_, state);
  state_ = state;
}

bool Call::may_refund() const noexcept { return session_->may_refund(); }

void Call::count_ignored_refund() { session_->count_ignored_refund(); }

bool Call::account() {
  const std::size_t held = reader_.capacity() + inflated_.capacity() + out_.capacity();
  return session_->account_buffer(std::exchange(held_, held), held);
}

bool Call::fits() {
  if (account()) return true;
  end({.code = StatusCode::ResourceExhausted,
       .message = "too many bytes of calls that are not answered"});
  return false;
}

void Call::free_buffers() {
  reader_.clear();
  base::free_string(inflated_);
  base::free_string(out_);
  sent_ = 0;
  account();
}

void Call::on_data(std::string_view bytes) {
  if (ended_) return;
  reader_.add(bytes);
  if (!fits()) return;
  if (state_ == State::Streaming) return stream_messages();
  if (state_ != State::Receiving) return;
  const Progress progress = reader_.peek();
  if (accept_progress(progress) && progress == Progress::Message && reader_.has_more()) {
    end({.code = StatusCode::Unimplemented, .message = "more than one message in a unary call"});
  }
}

bool Call::accept_progress(Progress progress) {
  switch (progress) {
    case Progress::NeedMore:
    case Progress::Message: return true;
    case Progress::TooLarge:
      end({.code = StatusCode::ResourceExhausted,
           .message = "a message of " + std::to_string(reader_.size()) + " bytes; the most is " +
                      std::to_string(session_->max_message_bytes())});
      return false;
    case Progress::Compressed:
      if (encoding_ == Encoding::Unknown) {
        end({.code = StatusCode::Unimplemented, .message = "grpc-encoding: only gzip is read"});
      } else {
        end({.code = StatusCode::Internal,
             .message = "a compressed message in a call without grpc-encoding"});
      }
      return false;
    case Progress::Malformed:
      end({.code = StatusCode::Internal, .message = "a message starts with an unknown flag"});
      return false;
  }
  return false;
}

bool Call::open_message() {
  if (!reader_.is_compressed()) return true;
  const std::size_t most = session_->max_message_bytes();
  switch (gunzip(reader_.message(), most, inflated_)) {
    case GunzipResult::Done: return fits();
    case GunzipResult::TooLarge:
      end({.code = StatusCode::ResourceExhausted,
           .message = "a message that inflates to more than " + std::to_string(most) + " bytes"});
      return false;
    case GunzipResult::Malformed: break;
  }
  end({.code = StatusCode::Internal, .message = "cannot inflate the message"});
  return false;
}

void Call::stream_messages() {
  while (!ended_ && reader_.peek() == Progress::Message && open_message()) {
    session_->answer(*this);
    if (ended_) return;
    reader_.pop();
    if (out_.size() - sent_ > kMaxUnread || session_->is_full(held_)) {
      end({.code = StatusCode::ResourceExhausted, .message = "answers are not read"});
    }
  }
  if (!ended_) accept_progress(reader_.peek());
}

void Call::on_end() {
  if (ended_) return;
  if (state_ == State::Streaming) {
    if (method_ == Method::Reflection) {
      end(reader_.is_empty() ? Status{} : Status{StatusCode::Internal, "a message is cut short"});
    }
    return;
  }
  if (state_ != State::Receiving) return;
  if (reader_.peek() == Progress::Message) {
    if (open_message()) session_->answer(*this);
  } else if (reader_.is_empty()) {
    end({.code = StatusCode::Unimplemented, .message = "a unary call needs a message"});
  } else {
    end({.code = StatusCode::Internal, .message = "a message is cut short"});
  }
}

void Call::on_closed(http2::ErrorCode /*why*/) {
  if (state_ == State::AwaitingAnswer) {
    closed_ = true;  // reclaim() recycles it
    return;
  }
  retire();
}

// The call may never be used again: large buffers are freed.
void Call::retire() {
  reader_.end();
  if (out_.capacity() > kRetainedBytes) base::free_string(out_);
  if (inflated_.capacity() > kRetainedBytes) base::free_string(inflated_);
  metadata.reset();
  if (!account() || !session_->may_keep_buffers()) free_buffers();
  enter(State::Unused);
  session_->recycle(*this);
}

bool Call::reclaim() {
  if (session_ == nullptr) {
    delete this;
    return false;
  }
  if (closed_) {
    retire();
    return false;
  }
  return true;
}

void Call::send(const google::protobuf::MessageLite& message) {
  static_cast<void>(message.AppendToString(&begin_message()));  // all fields are optional
  send_message();
}

std::string& Call::begin_message() {
  if (sent_ == out_.size() || sent_ > kRetainedBytes) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
  message_ = out_.size();
  out_.append(kPrefix, '\0');
  return out_;
}

void Call::send_message() {
  write_prefix(out_.data() + message_,
               static_cast<std::uint32_t>(out_.size() - message_ - kPrefix));
  http2::ServerSession& http2_session = session_->http2_session();
  if (started_) {
    http2_session.resume(stream_);
  } else {
    http2_session.respond(stream_, kHead, this);
  }
  started_ = true;
  account();
  session_->wake();
}

void Call::end(const Status& status) {
  if (ended_) return;
  ended_ = true;
  status_ = status;
  enter(State::Answered);
  session_->count_response(http_status_class(status.code));
  http2::ServerSession& http2_session = session_->http2_session();
  if (started_) {
    http2_session.resume(stream_);
  } else {
    started_ = true;
    session_->refuse(stream_, status);
    reader_.clear();  // the rest of the message is ignored
    base::free_string(inflated_);
    account();
  }
  session_->wake();
}

void Call::expire(base::Deadline now) {
  if (state_ != State::Receiving || now < deadlines_.received) return;
  end({.code = StatusCode::DeadlineExceeded, .message = "the request did not arrive in time"});
}

http2::BodySource::Portion Call::read(std::span<char> room) {
  const std::size_t size = std::min(room.size(), out_.size() - sent_);
  std::copy_n(out_.data() + sent_, size, room.data());
  sent_ += size;
  if (sent_ < out_.size()) return {.size = size, .after = After::More};
  return {.size = size, .after = ended_ ? After::End : After::Deferred};
}

std::span<const Field> Call::trailers() {
  if (status_.ok()) return kOkTrailers;
  status_.message = percent_encoded(status_.message);
  trailers_ = {static_field("grpc-status", digits_of(status_.code)),
               Field{.name = "grpc-message", .value = status_.message}};
  return trailers_;
}

}  // namespace penstock::wire::grpc
