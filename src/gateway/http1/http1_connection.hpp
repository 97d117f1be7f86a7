#pragma once

#include "gateway/http1/body_encoder.hpp"
#include "gateway/http1/buffer_sequence.hpp"
#include "gateway/http1/read_buffer.hpp"
#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/exchange.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "gateway/proxy/transfer_rate.hpp"
#include "net/asio_types.hpp"
#include "net/connection.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::gateway {

// An HTTP/1.1 client connection. Requests are served in order; pipelined ones wait in the read
// buffer. Lives as long as its coroutine. Thread-safety: none.
template <class Stream>
class Http1Connection final : public net::ConnectionBase,
                              private Downstream,
                              public std::enable_shared_from_this<Http1Connection<Stream>> {
 public:
  Http1Connection(std::shared_ptr<GatewayContext> context, Stream stream, net::Peer peer);
  ~Http1Connection() override;

  // Starts to serve. With `rejection`, sends that error and closes.
  void start(const HttpError* rejection);

  void expire(net::Phase phase) override;
  void close_when_idle() override;
  void abort() override;

 private:
  using ReadResult = RequestHeadReader::ReadResult;

  static net::Awaitable<void> serve(std::shared_ptr<Http1Connection> self,
                                    const HttpError* rejection);
  [[nodiscard]] net::Awaitable<bool> tls_handshake();
  [[nodiscard]] bool is_http2();
  void switch_to_http2();
  [[nodiscard]] net::Awaitable<bool> serve_one();
  [[nodiscard]] net::Awaitable<bool> read_head();
  [[nodiscard]] net::Awaitable<void> reject(HttpError why);
  [[nodiscard]] net::Awaitable<void> lingering_close();
  [[nodiscard]] Caller caller();
  [[nodiscard]] SendResult write_now();
  void enter(net::Phase phase);
  void enter_reading();
  // While stopping, a connection that never sent a request is kept briefly: one may be in transit.
  [[nodiscard]] bool awaits_first_request() const { return context_->stopping && is_first_; }

  void release_head() override;
  [[nodiscard]] BodyPiece body() override;
  void consume_body() override;
  [[nodiscard]] net::Awaitable<bool> more_body() override;
  void interrupt_body() override { read_buffer_.interrupt(); }
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
  [[nodiscard]] std::string_view received();
  void end_sending();

  std::shared_ptr<GatewayContext> context_;
  Stream stream_;
  std::string peer_;      // IP address of the peer
  std::string client_{};  // client IP, as reported by trusted proxies
  Trust trust_ = Trust::None;
  ReadBuffer<Stream> read_buffer_;
  RequestHeadReader reader_;
  std::shared_ptr<Exchange> exchange_{};

  // The request in flight:
  std::size_t head_bytes_ = 0;  // still in the read buffer
  Version version_ = Version::Http11;
  BodyDecoder decoder_{};
  BodyDecoder::Piece piece_{};
  bool has_piece_ = false;
  std::vector<Field> trailers_{};
  std::string text_{};
  BufferSequence unsent_{};
  BodyEncoder encoder_{BodyFraming::Kind::None};
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  TransferRate upload_;
  TransferRate download_;

  bool open_ = true;
  bool is_first_ = true;  // no response has been sent yet
  bool finishing_ = false;
  bool close_after_response_ = false;
  bool too_slow_ = false;
  bool awaits_body_ = false;
  bool switched_ = false;  // to another protocol
};

extern template class Http1Connection<net::Socket>;
extern template class Http1Connection<net::TlsStream>;

}  // namespace penstock::gateway
