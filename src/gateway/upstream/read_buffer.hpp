#pragma once

#include "gateway/http1/input_buffer.hpp"
#include "net/asio_types.hpp"
#include "net/event.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace penstock::gateway {

// Input of a connection to a server. When the buffer is full, reading stops (back-pressure). At
// most one read is in flight; it may start before bytes are needed, so that a close by the server
// is noticed early.
//
// Thread-safety: none.
class ReadBuffer : public InputBuffer {
 public:
  // The socket outlives it, or is kept alive by the owner passed to read_ahead() and more().
  ReadBuffer(net::Socket& socket, std::size_t small, std::size_t most)
      : InputBuffer(small, most), socket_(socket) {}

  // Why no more bytes will come; no error while more may.
  [[nodiscard]] const boost::system::error_code& failure() const noexcept { return failure_; }
  [[nodiscard]] bool has_ended() const noexcept { return failure_ == boost::asio::error::eof; }

  // Starts a read unless one is in flight or the buffer is full. `owner` keeps this object alive.
  void read_ahead(std::shared_ptr<void> owner) {
    if (reading_ || failure_) return;
    const std::span<char> room = prepare();
    if (room.empty()) return;
    reading_ = true;
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()),
                            OnRead{this, std::move(owner)});
  }

  // Waits for bytes. False when none will come, or the buffer is full.
  [[nodiscard]] net::Awaitable<bool> more(std::shared_ptr<void> owner) {
    if (failure_) co_return false;
    const std::size_t before = total();
    read_ahead(std::move(owner));
    if (!reading_) co_return false;
    co_await wakeup_.wait();
    co_return total() > before;
  }

  std::function<void()> on_end;  // the server closed while no coroutine was waiting

 private:
  // Completion handler of a read. When the event loop destroys it unrun, it destroys the waiting
  // coroutine as well.
  class OnRead {
   public:
    OnRead(ReadBuffer* read_buffer, std::shared_ptr<void> owner)
        : read_buffer_(read_buffer), owner_(std::move(owner)) {}
    OnRead(OnRead&&) noexcept = default;
    OnRead(const OnRead&) = delete;
    OnRead& operator=(const OnRead&) = delete;
    ~OnRead() {
      if (owner_ != nullptr) read_buffer_->wakeup_.drop_waiter();
    }
    void operator()(const boost::system::error_code& failed, std::size_t size) {
      const std::shared_ptr<void> owner = std::move(owner_);
      read_buffer_->received(failed, size);
    }

   private:
    ReadBuffer* read_buffer_;
    std::shared_ptr<void> owner_;
  };

  void received(const boost::system::error_code& failed, std::size_t size) {
    reading_ = false;
    commit(size);
    if (failed) failure_ = failed;
    if (wakeup_.has_waiter()) return wakeup_.wake();
    if (failed && on_end) on_end();
  }

  net::Socket& socket_;
  bool reading_ = false;
  boost::system::error_code failure_;
  net::Event wakeup_;
};

}  // namespace penstock::gateway
