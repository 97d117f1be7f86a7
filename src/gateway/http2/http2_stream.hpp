#pragma once

#include "gateway/http2/http2_request.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/exchange.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "http2/server_session.hpp"
#include "http2/stream.hpp"
#include "net/asio_types.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// How the streams of a connection hand over their output.
struct Http2ConnectionHandle {
  http2::ServerSession& session;
  std::function<void()> schedule_flush;   // sends buffered output soon
  std::vector<http2::StreamId> closed{};  // not yet removed from the connection
};

// One HTTP/2 request. Received data is acknowledged when the upstream has taken it, and response
// data is read as the client opens its window, so that memory is bounded in both directions.
//
// Lives as long as its exchange. Thread-safety: none.
class Http2Stream final : public http2::StreamEvents,
                          public http2::BodySource,
                          public Downstream,
                          public std::enable_shared_from_this<Http2Stream> {
 public:
  // The handle lives until on_closed().
  Http2Stream(std::shared_ptr<GatewayContext> context, Http2ConnectionHandle& handle,
              http2::StreamId id, Http2Request request, const net::Executor& executor);

  // `origin` lacks the peer's address, which is passed separately.
  static net::Awaitable<void> serve(std::shared_ptr<Http2Stream> self, Origin origin,
                                    std::string peer);
  // The connection has closed.
  void abandon();

 private:
  void on_data(std::string_view bytes) override;
  void on_trailers(std::span<const http2::Field> fields) override;
  void on_end() override;
  void on_closed(http2::ErrorCode why) override;

  [[nodiscard]] Portion read(std::span<char> room) override;
  [[nodiscard]] std::span<const http2::Field> trailers() override { return out_trailers_; }

  void release_head() override {}
  [[nodiscard]] BodyPiece body() override;
  void consume_body() override;
  [[nodiscard]] net::Awaitable<bool> more_body() override;
  void interrupt_body() override;
  [[nodiscard]] std::span<const Field> body_trailers() override { return in_trailers_; }
  [[nodiscard]] SendResult send_interim(const ClientResponseHead& head) override;
  [[nodiscard]] SendResult send_head(const ClientResponseHead& head, std::string_view data,
                                     Last last, std::span<const Field> trailers) override;
  [[nodiscard]] SendResult send_body(std::string_view data, Last last,
                                     std::span<const Field> trailers) override;
  [[nodiscard]] net::Awaitable<bool> sent() override;
  void abort_response() override;

  void set_output(std::string_view data, Last last, std::span<const Field> trailers);
  [[nodiscard]] SendResult flush();
  void keep_trailers(std::span<const Field> trailers);

  std::shared_ptr<GatewayContext> context_;
  Http2ConnectionHandle* handle_;  // null after the connection has closed
  http2::StreamId id_;
  Http2Request request_;
  net::Timer arrived_;  // cancelled when data arrives or none will
  net::Timer drained_;  // cancelled when the client has taken the output
  std::shared_ptr<Exchange> exchange_{};

  TransferRate upload_;
  TransferRate download_;

  std::string peer_{};
  std::string client_{};  // client IP, as reported by trusted proxies

  std::string received_{};
  std::string shown_{};  // returned by body(); not moved by further input
  std::string in_trailer_text_{};
  std::vector<Field> in_trailers_{};
  bool is_interrupted_ = false;
  bool has_ended_ = false;
  bool is_closed_ = false;

  std::string_view out_{};
  std::string names_{};
  std::string trailer_text_{};
  std::vector<http2::Field> out_trailers_{};
  bool is_last_ = false;
};

}  // namespace penstock::gateway
