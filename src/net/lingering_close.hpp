#pragma once

#include "net/asio_types.hpp"
#include "net/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/socket_base.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace penstock::net {

// Shuts down the sending side and waits for the client to close: closing a socket with unread bytes
// resets it, and the client may lose the last response. Reads a bounded amount.
//
// REQUIRES: the caller has entered Phase::Linger, which limits the time, keeps the stream alive,
// and clears `is_open` when it closes the socket.
template <class Stream>
Awaitable<void> lingering_close(Stream& stream, const bool& is_open, std::uint64_t& bytes_in) {
  constexpr std::size_t kMaxReads = 64;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    const auto [unfinished] = co_await stream.async_shutdown(kIo);
    if (unfinished) co_return;
  }
  boost::system::error_code failed;
  stream.lowest_layer().shutdown(Tcp::socket::shutdown_send, failed);
  std::array<char, 4096> unread;
  for (std::size_t reads = 0; reads < kMaxReads && !failed && is_open; ++reads) {
    const boost::asio::mutable_buffer buffer = boost::asio::buffer(unread);
    std::size_t size = 0;
    if constexpr (std::is_same_v<Stream, Socket>) {
      std::tie(failed, size) = co_await stream.async_read_some(buffer, kIo);
    } else {
      std::tie(failed, size) = co_await stream.next_layer().async_read_some(buffer, kIo);
    }
    bytes_in += size;
  }
}

// For a client that does not read: the socket is reset when it is closed, and the kernel drops its
// send buffer. Otherwise it would keep up to 4 MiB until the client has read it.
template <class Stream>
void reset_on_close(Stream& stream) {
  boost::system::error_code ignored;  // then the kernel closes it as usual
  stream.lowest_layer().set_option(boost::asio::socket_base::linger(true, 0), ignored);
}

}  // namespace penstock::net
