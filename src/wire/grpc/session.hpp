#pragma once

#include "base/deadline.hpp"
#include "http2/server_session.hpp"
#include "net/server_state.hpp"
#include "net/session.hpp"
#include "penstock/time.hpp"
#include "wire/grpc/call.hpp"
#include "wire/grpc/rate_limiter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::wire::grpc {

// What the sessions of a server share.
struct ServerContext {
  RateLimiter& limiter;
  net::ServerState& state;  // its statistics; health is NOT_SERVING when it is draining or stopping
  http2::SessionOptions http2_options{};
  std::size_t max_message_bytes = 0;
  std::size_t max_connection_buffer_bytes = std::size_t{8} << 20U;
  std::size_t max_buffer_bytes = std::size_t{256} << 20U;  // of all connections
  Duration request_timeout{};                              // of a call without grpc-timeout
  Duration receive_timeout{};  // for the message of a call to arrive, whatever its client allows
  std::size_t buffered = 0;    // bytes that the calls of all connections hold
};

// Whether the client of a connection may refund (is_negative_hits).
enum class Refunds : std::uint8_t { Allowed, Ignored };

// gRPC without the I/O (net::Session): takes calls out of HTTP/2, has them answered, and writes the
// responses. Calls of one read that are answered at once are in the output after receive(), and are
// sent before the next read.
//
// Thread-safety: none.
class Session final : public http2::RequestEvents {
 public:
  // `server_context` outlives the session.
  explicit Session(ServerContext& server_context, Refunds refunds = Refunds::Allowed);
  // Calls with a pending response are detached.
  ~Session() override;

  // False after a fatal protocol violation.
  [[nodiscard]] bool receive(std::string_view bytes, base::Deadline now);
  // Valid until the next call; call it until it is empty.
  [[nodiscard]] std::string_view take_output() { return http2_session_.take_output(); }
  [[nodiscard]] net::Step advance();
  [[nodiscard]] std::span<char> prepare() noexcept { return read_buffer_; }
  void commit(std::size_t bytes);
  [[nodiscard]] bool is_done() const noexcept { return is_finished(); }
  // Ends requests that have not arrived in time, too.
  [[nodiscard]] net::Activity activity();
  [[nodiscard]] net::TimeoutAction on_timeout(net::Phase phase);
  [[nodiscard]] static bool closes_silently() noexcept { return false; }  // it sends GOAWAY
  void detach() noexcept { on_output = nullptr; }
  [[nodiscard]] bool is_finished() const noexcept { return http2_session_.is_finished(); }
  [[nodiscard]] bool is_established() const noexcept { return http2_session_.is_established(); }
  [[nodiscard]] bool is_reading_head() const noexcept { return http2_session_.is_reading_head(); }
  [[nodiscard]] std::uint64_t requests() const noexcept { return http2_session_.requests(); }
  [[nodiscard]] bool is_idle() const noexcept { return http2_session_.open_streams() == 0; }
  // Calls with an incomplete request.
  [[nodiscard]] std::size_t incomplete() const noexcept { return incomplete_; }
  void expire(base::Deadline now);

  // Sends GOAWAY, and serves the calls of a client that has not seen it. Watch calls get
  // NOT_SERVING and stay.
  void drain();
  // Frees the memory of a burst of calls. REQUIRES: is_idle().
  void trim();

  // No new calls; ends when the calls in flight are answered. Watch calls get NOT_SERVING and end.
  void close_when_idle();
  // Rejects the connection.
  void reject_client() { http2_session_.terminate(http2::ErrorCode::EnhanceYourCalm); }
  void send_goaway() { http2_session_.terminate(http2::ErrorCode::NoError); }
  void send_ping() { http2_session_.ping(); }

  std::function<void()> on_output;  // there is some, and receive() is not running

  http2::StreamEvents* on_request(http2::StreamId stream, const http2::RequestHead& head) override;

  // For calls:
  [[nodiscard]] http2::ServerSession& http2_session() noexcept { return http2_session_; }
  [[nodiscard]] std::size_t max_message_bytes() const noexcept;
  void answer(Call& call);  // its message
  void change(Call::State from, Call::State to) noexcept;
  // A call holds `now` bytes instead of `before`. False when that exceeds the limit of the
  // connection or of all connections.
  [[nodiscard]] bool account_buffer(std::size_t before, std::size_t now) noexcept;
  [[nodiscard]] bool is_full(std::size_t call_bytes) const noexcept;
  // A call that is not used may keep its (small) buffers for the next.
  [[nodiscard]] bool may_keep_buffers() const noexcept;
  [[nodiscard]] bool may_refund() const noexcept { return refunds_ == Refunds::Allowed; }
  void count_ignored_refund() { ++server_context_.state.statistics.refunds_ignored; }
  void recycle(Call& call) { spare_.push_back(&call); }
  void count_response(unsigned first_digit);
  void wake() const;
  void refuse(http2::StreamId stream, const Status& status);

 private:
  struct CallHeaders;  // fields of the request head
  // A read has the requests of some hundred calls.
  static constexpr std::size_t kReadBytes = std::size_t{16} << 10U;

  void expire_requests();
  [[nodiscard]] CallHeaders read_call_headers(const http2::RequestHead& head) const;
  // Whether it is a gRPC request at all; else it is answered.
  [[nodiscard]] bool is_grpc(http2::StreamId stream, const http2::RequestHead& head,
                             const CallHeaders& headers);
  // Whether a call may begin; else it is answered.
  [[nodiscard]] bool can_start_call(http2::StreamId stream, const http2::RequestHead& head,
                                    const CallHeaders& headers);
  void reject_http(http2::StreamId stream, std::string_view status);
  void answer_health(Call& call) const;

  ServerContext& server_context_;
  Refunds refunds_;
  http2::ServerSession http2_session_;
  std::vector<std::unique_ptr<Call>> calls_;  // as many as there were at a time
  std::vector<Call*> spare_;
  base::Deadline now_{};
  std::size_t incomplete_ = 0;
  std::size_t streaming_ = 0;
  std::size_t held_ = 0;  // bytes, of all calls
  bool receiving_ = false;
  bool drained_ = false;
  bool must_flush_ = true;            // send the output before the next read
  bool is_ping_outstanding_ = false;  // nothing was received since
  std::uint64_t turns_ = 0;           // each turn gives calls in flight new time
  base::Deadline next_expiry_{};      // of incomplete requests; the epoch when there are none
  std::array<char, kReadBytes> read_buffer_;
};

}  // namespace penstock::wire::grpc
