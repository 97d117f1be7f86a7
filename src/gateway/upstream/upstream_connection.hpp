#pragma once

#include "gateway/http1/buffer_sequence.hpp"
#include "gateway/http1/read_buffer.hpp"
#include "gateway/http1/response_head.hpp"
#include "gateway/upstream/name_lookup.hpp"
#include "net/asio_types.hpp"
#include "net/timeouts.hpp"
#include "rules/settings/address.hpp"

#include <cstddef>
#include <memory>

namespace penstock::gateway {

// A connection to a server, for one request after the other. The phases of net::Timeouts mean:
// Handshake connecting, Write until the server takes more, Header until its answer begins, Body
// until the next piece of it, Idle in the pool, Answer that others have the word.
//
// Thread-safety: none.
class UpstreamConnection final : public net::TimeoutEntry,
                                 public std::enable_shared_from_this<UpstreamConnection> {
 public:
  // `timeouts` outlive it, or the event loop.
  UpstreamConnection(const net::Executor& executor, net::Timeouts& timeouts,
                     std::size_t max_head_bytes);

  // Whether it did.
  [[nodiscard]] net::Awaitable<bool> connect(rules::Address address);
  // All of it, or false.
  [[nodiscard]] net::Awaitable<bool> write(BufferSequence bytes);
  // What goes without waiting; the rest is left for write(). False when nothing goes any more.
  [[nodiscard]] bool write_now(BufferSequence& bytes);
  // Bytes of the answer; false for none any more.
  [[nodiscard]] net::Awaitable<bool> more() { return read_buffer_.more(shared_from_this()); }
  // Notices when the server closes, from now on.
  void watch() { read_buffer_.read_ahead(shared_from_this()); }
  void end_sending();
  void close();
  void expire(net::Phase phase) override;
  void enter(net::Phase phase);

  [[nodiscard]] net::Executor executor() { return socket_.get_executor(); }
  [[nodiscard]] ReadBuffer<net::Socket>& read_buffer() noexcept { return read_buffer_; }
  [[nodiscard]] ResponseHeadReader& head_reader() noexcept { return head_reader_; }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] bool has_expired() const noexcept { return has_expired_; }
  // Bytes that went out, of all requests.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }

  std::size_t server = 0;    // of its upstream
  std::size_t requests = 0;  // begun on it

 private:
  net::Socket socket_;
  net::Timeouts& timeouts_;
  ReadBuffer<net::Socket> read_buffer_;
  ResponseHeadReader head_reader_;
  std::shared_ptr<NameLookup> lookup_{};  // while there is one
  std::size_t written_ = 0;
  bool is_open_ = true;
  bool has_expired_ = false;
};

}  // namespace penstock::gateway
