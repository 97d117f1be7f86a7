#pragma once

#include "net/asio_types.hpp"

#include <boost/asio/buffer.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace penstock::gateway {

// Texts sent in one write. REQUIRES: they stay valid until the write completes.
class BufferSequence {
 public:
  // REQUIRES: at most kMaxBuffers texts that are not empty.
  void add(std::string_view text) {
    if (text.empty()) return;
    parts_.at(end_++) = boost::asio::const_buffer(text.data(), text.size());
  }
  [[nodiscard]] bool is_empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::span<const boost::asio::const_buffer> parts() const noexcept {
    return std::span(parts_).subspan(begin_, end_ - begin_);
  }
  void remove(std::size_t bytes) noexcept {
    while (bytes > 0 && begin_ < end_) {
      const std::size_t part = std::min(bytes, parts_[begin_].size());
      parts_[begin_] += part;
      bytes -= part;
      if (parts_[begin_].size() == 0) ++begin_;
    }
  }

  static constexpr std::size_t kMaxBuffers = 6;

 private:
  std::array<boost::asio::const_buffer, kMaxBuffers> parts_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace penstock::gateway
