#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace penstock::gateway {

// Input of a connection in one bounded buffer. Bytes are not moved until the next prepare().
//
// Thread-safety: none.
class InputBuffer {
 public:
  InputBuffer(std::size_t small, std::size_t most) : most_(most), buffer_(small) {}

  [[nodiscard]] std::span<char> bytes() noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  [[nodiscard]] bool is_empty() const noexcept { return begin_ == end_; }
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }  // received

  // Room for the next read; empty when the buffer is full.
  [[nodiscard]] std::span<char> prepare() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (begin_ > 0 && buffer_.size() - end_ < kMinRead) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    std::size_t wanted = std::max(buffer_.size(), wanted_);
    if (wanted - end_ < kMinRead) wanted = std::min(std::max(wanted * 2, wanted_), most_);
    if (wanted > buffer_.size()) buffer_.resize(wanted);
    return std::span(buffer_).subspan(end_);
  }
  void commit(std::size_t bytes) noexcept {
    end_ += bytes;
    total_ += bytes;
  }

  // Uses the maximum size from the next read on, for bodies.
  void grow() { wanted_ = most_; }
  // Frees memory while the connection is idle. REQUIRES: no read into prepare() is in flight.
  void shrink(std::size_t small) {
    wanted_ = 0;
    if (begin_ != end_ || buffer_.size() <= small) return;
    buffer_ = std::vector<char>(small);
    begin_ = end_ = 0;
  }

 private:
  static constexpr std::size_t kMinRead = 512;  // smaller reads are not worth a system call

  std::size_t most_;
  std::size_t wanted_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t total_ = 0;
};

}  // namespace penstock::gateway
