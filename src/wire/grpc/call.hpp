#pragma once

#include "base/deadline.hpp"
#include "http2/stream.hpp"
#include "wire/grpc/message_reader.hpp"
#include "wire/grpc/protocol.hpp"

#include <google/protobuf/struct.pb.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace google::protobuf {
class MessageLite;
}

namespace penstock::wire::grpc {

class Session;

// One call: reads its messages, and writes the answer as the client makes room for it. Used again
// for other calls of the same connection.
//
// Ownership: the session's, but for a call that awaits its answer when the session ends:
// that one is its own until the answer comes.
class Call final : public http2::StreamEvents, public http2::BodySource {
 public:
  enum class State : std::uint8_t {
    Unused,
    Receiving,       // the one message that it needs
    AwaitingAnswer,  // the response comes later
    Streaming,       // answers as long as the client or we like
    Answered,
  };

  explicit Call(Session& session) : session_(&session) {}

  struct Deadlines {
    base::Deadline answered;  // by the timeout of the client
    base::Deadline received;  // no later: when its message has to be there
  };
  void begin(http2::StreamId stream, Method method, Encoding encoding, const Deadlines& deadlines);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] Method method() const noexcept { return method_; }
  [[nodiscard]] base::Deadline deadline() const noexcept { return deadlines_.answered; }
  // The message to be answered, inflated; it stays while AwaitingAnswer.
  [[nodiscard]] std::string_view message() const noexcept {
    return reader_.is_compressed() ? std::string_view(inflated_) : reader_.message();
  }

  // Whether its client may refund.
  [[nodiscard]] bool may_refund() const noexcept;
  void count_ignored_refund();

  // For responses that are given at once:
  void send(const google::protobuf::MessageLite& message);
  // The same in two steps: the text appended in between is the message.
  [[nodiscard]] std::string& begin_message();
  void send_message();
  void end(const Status& status);  // the last; does nothing the second time

  // For several responses.
  void stream() { enter(State::Streaming); }

  // For a later response. The call stays valid until reclaim(), which returns false, and destroys
  // the call, if the client no longer waits.
  void await_answer() { enter(State::AwaitingAnswer); }
  [[nodiscard]] bool reclaim();
  void detach_session() noexcept { session_ = nullptr; }
  std::unique_ptr<google::protobuf::Struct> metadata{};  // for the answer, if wanted

  // Ends the call if its message has not arrived in time.
  void expire(base::Deadline now);

  void on_data(std::string_view bytes) override;
  void on_end() override;
  void on_closed(http2::ErrorCode why) override;
  [[nodiscard]] Portion read(std::span<char> room) override;
  [[nodiscard]] std::span<const http2::Field> trailers() override;

 private:
  void enter(State state);
  // Accounts the memory of the call in its session. False when that is too much.
  bool account();
  // The same, and ends the call when it is too much.
  bool fits();
  void free_buffers();
  void retire();
  void stream_messages();
  // Whether the bytes so far can become a valid message; else the call has ended.
  bool accept_progress(MessageReader::Progress progress);
  // Whether the message that has arrived can be read, and is inflated; else the call has ended.
  bool open_message();

  Session* session_;  // null when it is destroyed
  http2::StreamId stream_ = 0;
  Method method_{};
  Encoding encoding_ = Encoding::Identity;
  State state_ = State::Unused;
  bool started_ = false;  // the answer
  bool ended_ = false;    // the answer is complete
  bool closed_ = false;   // while AwaitingAnswer
  Deadlines deadlines_{};
  MessageReader reader_;
  std::string inflated_;  // the message, where it came compressed
  std::string out_;
  std::size_t held_ = 0;  // bytes that the session knows of
  std::size_t sent_ = 0;
  std::size_t message_ = 0;  // where the last one begins
  Status status_{};
  std::array<http2::Field, 2> trailers_{};
};

}  // namespace penstock::wire::grpc
