#pragma once

#include "gateway/http1/input_buffer.hpp"
#include "gateway/http1/message_head.hpp"
#include "gateway/http1/message_writer.hpp"
#include "gateway/http2/http2_session.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/exchange.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "net/asio_types.hpp"
#include "net/event.hpp"
#include "net/server_connection.hpp"
#include "net/session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::gateway {

// HTTP/1.1 of one client, without the I/O (net::Session). Requests are served in order by one
// coroutine; pipelined ones wait in the input buffer. While a request is in flight the session
// reads only what its exchange wants: the body, or the end of the connection. Hands over to an
// Http2Session when the client speaks HTTP/2. Thread-safety: none.
class Http1Session final : private Downstream, public std::enable_shared_from_this<Http1Session> {
 public:
  // `scheme` is "http" or "https".
  Http1Session(std::shared_ptr<GatewayContext> context, net::Executor executor, std::string peer,
               std::string_view scheme);

  // Sends this error and closes.
  void reject(HttpError why);

  static constexpr bool kFlushesAtOnce = true;
  [[nodiscard]] net::Step advance();
  [[nodiscard]] std::span<char> prepare();
  void commit(std::size_t bytes) noexcept { input_.commit(bytes); }
  [[nodiscard]] std::string_view take_output();
  [[nodiscard]] bool on_sent(std::chrono::nanoseconds waited, std::size_t bytes) noexcept;
  [[nodiscard]] bool is_done() const noexcept {
    return state_ == State::Finished && out_.empty() && lent_.empty();
  }
  [[nodiscard]] net::Activity activity() const noexcept;
  [[nodiscard]] net::TimeoutAction on_timeout(net::Phase phase);
  [[nodiscard]] bool closes_silently() const noexcept { return input_.is_empty(); }
  [[nodiscard]] bool on_end();
  void on_protocol(std::string_view name) noexcept { is_http2_ = name == "h2"; }
  void reload();
  void detach();

  template <class Stream>
  void continue_on(Stream stream, net::AddressSlot slot) {
    auto session = std::make_shared<Http2Session>(
        context_, executor_, peer_, Origin{.peer = {}, .scheme = scheme_, .trust = trust_});
    session->receive(received());
    net::continue_connection(context_, std::move(session), std::move(stream), std::move(slot));
  }

  std::function<void()> on_output;
  std::function<void(net::CloseMode)> on_close;

 private:
  enum class State : std::uint8_t {
    Head,      // reads the head of a request
    Exchange,  // a request is in flight
    Tunnel,    // after 101
    Finished,  // sends the rest of the output, then closes
  };

  static net::Awaitable<void> serve(std::shared_ptr<Http1Session> self);
  [[nodiscard]] bool read_request();
  void start_exchange();
  void end_exchange();
  [[nodiscard]] Caller caller();
  [[nodiscard]] bool wants_input() const noexcept;
  [[nodiscard]] std::string_view received() noexcept;
  void append_body(std::string_view data, Last last, std::span<const Field> trailers);
  // The connection looks at output, step and activity again.
  void notify();
  [[nodiscard]] SendResult flush();
  [[nodiscard]] bool is_output_full() const noexcept;

  void release_head() override;
  [[nodiscard]] BodyPiece body() override;
  void consume_body() override;
  [[nodiscard]] net::Awaitable<bool> more_body() override;
  void interrupt_body() override { body_arrived_.wake(); }
  [[nodiscard]] std::span<const Field> body_trailers() override;
  [[nodiscard]] SendResult send_interim(const ClientResponseHead& head) override;
  [[nodiscard]] SendResult send_head(const ClientResponseHead& head, std::string_view data,
                                     Last last, std::span<const Field> trailers) override;
  [[nodiscard]] SendResult send_body(std::string_view data, Last last,
                                     std::span<const Field> trailers) override;
  [[nodiscard]] net::Awaitable<bool> sent() override;
  void abort_response() override;
  [[nodiscard]] bool can_switch_protocols() const noexcept override { return true; }
  [[nodiscard]] SendResult switch_protocols(std::string_view head) override;

  std::shared_ptr<GatewayContext> context_;
  net::Executor executor_;
  std::string peer_;    // IP address of the peer
  std::string client_;  // client IP, as reported by trusted proxies
  std::string_view scheme_;
  Trust trust_ = Trust::None;
  bool is_client_known_ = false;  // client_ is the same for all requests
  InputBuffer input_;
  RequestHeadReader reader_;
  State state_ = State::Head;
  std::shared_ptr<Exchange> exchange_{};
  net::Event request_arrived_{};  // serve() waits for it between requests
  net::Event body_arrived_{};
  net::Event output_taken_{};
  std::string out_{};
  std::string sending_{};    // what take_output() returned
  std::string_view lent_{};  // a large piece of a body, sent from where it is, after out_
  std::uint64_t requests_ = 0;
  std::uint64_t waits_ = 0;  // for parts of a body

  // The request in flight:
  std::size_t head_bytes_ = 0;  // still in the input buffer
  Version version_ = Version::Http11;
  BodyDecoder decoder_{};
  BodyDecoder::Piece piece_{};
  std::vector<Field> trailers_{};
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  TransferRate upload_;
  TransferRate download_;
  bool has_piece_ = false;
  bool awaits_body_ = false;
  bool close_after_response_ = false;

  bool is_lent_taken_ = false;
  bool is_http2_ = false;
  bool is_serving_ = false;   // serve() has been started
  bool advancing_ = false;    // the connection looks at the session when advance() returns
  bool detached_ = false;     // the connection is closed
  bool input_ended_ = false;  // or is not read any more
  bool ends_output_ = false;  // of a tunnel: closes that direction when all is sent
};

}  // namespace penstock::gateway
