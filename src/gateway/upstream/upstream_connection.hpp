#pragma once

#include "gateway/http1/message_head.hpp"
#include "gateway/http1/message_writer.hpp"
#include "gateway/upstream/read_buffer.hpp"
#include "net/address.hpp"
#include "net/asio_types.hpp"
#include "net/timeouts.hpp"

#include <boost/asio/ip/basic_resolver.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace penstock::gateway {

// Resolves a host name with the system resolver, which cannot be interrupted: cancel() ends the
// wait, a running lookup finishes later and its result is ignored, a queued one is dropped. At most
// kMaxInFlight per thread; further lookups fail at once.
//
// Thread-safety: none.
class NameLookup : public std::enable_shared_from_this<NameLookup> {
 public:
  static constexpr std::size_t kMaxInFlight = 256;

  explicit NameLookup(const net::Executor& executor);

  // Returns the addresses; empty on failure or after cancel(). Call once. Keeps itself alive.
  [[nodiscard]] net::Awaitable<std::vector<net::Tcp::endpoint>> find(net::Address address);
  void cancel();

 private:
  net::Timer ended_;  // never expires: cancelled when the lookup ends
  boost::asio::ip::basic_resolver<net::Tcp, net::Executor> resolver_;
  std::vector<net::Tcp::endpoint> found_{};
  bool is_waiting_ = true;
};

// A connection to an upstream server, used for one request at a time. Phases of net::Timeouts:
// Handshake while connecting, Write until the server reads more, Header until its response starts,
// Body until the next piece of it, Idle in the pool, Processing while waiting for others.
//
// Thread-safety: none.
class UpstreamConnection final : public net::TimeoutEntry,
                                 public std::enable_shared_from_this<UpstreamConnection> {
 public:
  // `timeouts` outlives it, or the event loop.
  UpstreamConnection(const net::Executor& executor, net::Timeouts& timeouts,
                     std::size_t max_head_bytes);

  // Returns whether it succeeded.
  [[nodiscard]] net::Awaitable<bool> connect(net::Address address);
  // Writes everything, or returns false.
  [[nodiscard]] net::Awaitable<bool> write(BufferSequence bytes);
  // Writes what the socket accepts now; the rest stays in `bytes`. False when the connection
  // failed.
  [[nodiscard]] bool write_now(BufferSequence& bytes);
  // Waits for bytes of the response; false when none will come.
  [[nodiscard]] net::Awaitable<bool> more() { return read_buffer_.more(shared_from_this()); }
  // Detects a close by the server from now on.
  void watch() { read_buffer_.read_ahead(shared_from_this()); }
  void end_sending();
  void close();
  void expire(net::Phase phase) override;
  void enter(net::Phase phase);

  [[nodiscard]] ReadBuffer& read_buffer() noexcept { return read_buffer_; }
  [[nodiscard]] ResponseHeadReader& head_reader() noexcept { return head_reader_; }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] bool has_expired() const noexcept { return has_expired_; }
  // Bytes written, of all requests.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }

  std::size_t server = 0;  // index in its upstream

 private:
  net::Socket socket_;
  net::Timeouts& timeouts_;
  ReadBuffer read_buffer_;
  ResponseHeadReader head_reader_;
  std::shared_ptr<NameLookup> lookup_{};  // while one is running
  std::size_t written_ = 0;
  bool is_open_ = true;
  bool has_expired_ = false;
};

}  // namespace penstock::gateway
