#pragma once

#include "net/asio_types.hpp"
#include "net/event.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Input of a connection in one bounded buffer: when it is full, reading stops (back-pressure). At
// most one read is in flight; it may start before bytes are needed, so that a close by the peer is
// noticed early.
//
// Bytes are not moved until the next read starts. Thread-safety: none.
template <class Stream>
class ReadBuffer {
 public:
  // The stream outlives it, or is kept alive by the owner passed to read_ahead() and more().
  ReadBuffer(Stream& stream, std::size_t small, std::size_t most)
      : stream_(stream), most_(most), buffer_(small) {}

  [[nodiscard]] std::span<char> bytes() noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }
  // Why no more bytes will come; no error while more may.
  [[nodiscard]] const boost::system::error_code& failure() const noexcept { return failure_; }
  [[nodiscard]] bool has_ended() const noexcept { return failure_ == boost::asio::error::eof; }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }

  // Starts a read unless one is in flight or the buffer is full. `owner` keeps this object alive.
  void read_ahead(std::shared_ptr<void> owner) {
    if (reading_ || failure_ || !make_room()) return;
    reading_ = true;
    stream_.async_read_some(boost::asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                            OnRead{this, std::move(owner)});
  }

  // Waits for bytes. False when none will come, the buffer is full, or interrupt() was called.
  [[nodiscard]] net::Awaitable<bool> more(std::shared_ptr<void> owner) {
    if (failure_) co_return false;
    const std::size_t before = total_;
    read_ahead(std::move(owner));
    if (!reading_) co_return false;
    co_await wakeup_.wait();
    co_return total_ > before;
  }
  // The waiting coroutine resumes without bytes.
  void interrupt() { wakeup_.wake(); }

  // Uses the maximum size from the next read on, for bodies.
  void grow() { wanted_ = most_; }
  // Frees memory while the connection is idle.
  void shrink(std::size_t small) {
    wanted_ = 0;
    if (reading_ || begin_ != end_ || buffer_.size() <= small) return;
    buffer_ = std::vector<char>(small);
    begin_ = end_ = 0;
  }

  std::function<void()> on_end;  // the peer closed while no coroutine was waiting

 private:
  static constexpr std::size_t kMinRead = 512;  // smaller reads are not worth a system call

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

  [[nodiscard]] bool make_room() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (begin_ > 0 && buffer_.size() - end_ < kMinRead) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    std::size_t wanted = std::max(buffer_.size(), wanted_);
    if (wanted - end_ < kMinRead) wanted = std::min(std::max(wanted * 2, wanted_), most_);
    if (wanted > buffer_.size()) buffer_.resize(wanted);
    return end_ < buffer_.size();
  }

  void received(const boost::system::error_code& failed, std::size_t size) {
    reading_ = false;
    end_ += size;
    total_ += size;
    if (failed) failure_ = failed;
    if (wakeup_.has_waiter()) return wakeup_.wake();
    if (failed && on_end) on_end();
  }

  Stream& stream_;
  std::size_t most_;
  std::size_t wanted_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t total_ = 0;
  bool reading_ = false;
  boost::system::error_code failure_;
  net::Event wakeup_;
};

}  // namespace penstock::gateway
