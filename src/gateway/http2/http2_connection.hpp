#pragma once

#include "gateway/http2/http2_stream.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "gateway/proxy/transfer_rate.hpp"
#include "http2/server_session.hpp"
#include "net/asio_types.hpp"
#include "net/connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::gateway {

// An HTTP/2 client connection with concurrent requests. Lives as long as its coroutine.
// Thread-safety: none.
template <class Stream>
class Http2Connection final : public net::ConnectionBase,
                              private http2::RequestEvents,
                              public std::enable_shared_from_this<Http2Connection<Stream>> {
 public:
  // HTTP/2 was negotiated by TLS or by its preface.
  Http2Connection(std::shared_ptr<GatewayContext> context, Stream stream, std::string peer,
                  Trust trust);
  ~Http2Connection() override;

  // `received` holds bytes that were already read.
  void start(std::string received);

  void expire(net::Phase phase) override;
  void drain() override;
  void close_when_idle() override;
  void abort() override;

 private:
  http2::StreamEvents* on_request(http2::StreamId id, const http2::RequestHead& head) override;

  static net::Awaitable<void> serve(std::shared_ptr<Http2Connection> self, std::string received);
  static net::Awaitable<void> write_later(std::shared_ptr<Http2Connection> self);
  [[nodiscard]] net::Awaitable<bool> receive(std::string_view bytes);
  // Sends all output, waiting while the client is slow. Returns whether the connection stays open.
  [[nodiscard]] net::Awaitable<bool> flush();
  void reject(http2::StreamId id, const HttpError& why);
  void schedule_flush();
  void erase_closed_streams();
  void end_lingering();
  void enter(net::Phase phase);
  void enter_next();

  static constexpr std::size_t kReadBytes = std::size_t{16} << 10U;

  std::shared_ptr<GatewayContext> context_;
  Stream stream_;
  std::string peer_;
  Trust trust_;
  http2::ServerSession session_;
  Http2ConnectionHandle handle_;
  net::Timer written_;  // never expires: cancelled when the write in flight ends
  net::Timer linger_;   // time before a client that is still sending is reset
  TransferRate download_;
  std::unordered_map<http2::StreamId, std::shared_ptr<Http2Stream>> streams_{};
  std::uint64_t requests_ = 0;  // at the last read
  bool open_ = true;
  bool is_writing_ = false;
  bool is_flush_scheduled_ = false;
  bool is_drained_ = false;
  bool is_linger_awaited_ = false;
  std::array<char, kReadBytes> read_buffer_;
};

extern template class Http2Connection<net::Socket>;
extern template class Http2Connection<net::TlsStream>;

}  // namespace penstock::gateway
