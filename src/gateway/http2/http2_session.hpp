#pragma once

#include "gateway/http2/http2_stream.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "http2/server_session.hpp"
#include "net/asio_types.hpp"
#include "net/session.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::gateway {

// HTTP/2 of one client (net::Session): each request is a stream with its own coroutine. Output is
// sent before the next read. Streams have their own time limits. Thread-safety: none.
class Http2Session final : private http2::RequestEvents,
                           public std::enable_shared_from_this<Http2Session> {
 public:
  // `origin` without the address, which is `peer`.
  Http2Session(std::shared_ptr<GatewayContext> context, const net::Executor& executor,
               std::string peer, Origin origin);
  ~Http2Session() override;

  void receive(std::string_view bytes);

  [[nodiscard]] net::Step advance();
  [[nodiscard]] std::span<char> prepare() noexcept { return read_buffer_; }
  void commit(std::size_t bytes) { receive({read_buffer_.data(), bytes}); }
  [[nodiscard]] std::string_view take_output();
  // False when the client reads too slowly.
  [[nodiscard]] bool on_sent(std::chrono::nanoseconds waited, std::size_t bytes) noexcept;
  [[nodiscard]] bool is_done() const noexcept { return session_.is_finished(); }
  [[nodiscard]] net::Activity activity();
  [[nodiscard]] net::TimeoutAction on_timeout(net::Phase phase);
  [[nodiscard]] static bool closes_silently() noexcept { return false; }  // it sends GOAWAY
  void drain();
  void reload();
  void close_when_idle();
  void detach();

  std::function<void()> on_output;

 private:
  http2::StreamEvents* on_request(http2::StreamId id, const http2::RequestHead& head) override;
  class Rejection;
  [[nodiscard]] http2::StreamEvents* reject(http2::StreamId id, std::string_view method,
                                            const HttpError& why);
  void wake() const;
  void end_lingering();

  static constexpr std::size_t kReadBytes = std::size_t{16} << 10U;

  std::shared_ptr<GatewayContext> context_;
  net::Timer linger_;  // until a client that is still sending gets RST_STREAM
  std::string peer_;
  Origin origin_;
  http2::ServerSession session_;
  Http2ConnectionHandle handle_;
  TransferRate download_;
  std::unordered_map<http2::StreamId, std::shared_ptr<Http2Stream>> streams_{};
  std::unordered_map<http2::StreamId, std::unique_ptr<Rejection>> rejections_;
  std::uint64_t turns_ = 0;
  bool must_flush_ = true;  // send the output before the next read
  bool receiving_ = false;
  bool is_drained_ = false;
  bool is_linger_awaited_ = false;
  std::array<char, kReadBytes> read_buffer_;
};

}  // namespace penstock::gateway
