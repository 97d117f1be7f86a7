#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::http2 {

// The first bytes of an HTTP/2 connection.
inline constexpr std::size_t kPrefaceBytes = 24;

// The part of a frame before its payload.
struct FrameHead {
  std::size_t length = 0;
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
};

// Finds the frame heads in the bytes of a client, in any portions. The library reports only the
// frames that it uses: none of unknown types, and none of closed streams.
// Thread-safety: none.
class FrameScanner {
 public:
  // Calls `seen` with each FrameHead that is complete with these bytes.
  template <class Seen>
  void scan(std::string_view bytes, const Seen& seen) {
    while (!bytes.empty()) {
      const std::size_t skipped = std::min(skip_, bytes.size());
      skip_ -= skipped;
      bytes.remove_prefix(skipped);
      const std::size_t wanted = std::min(head_.size() - filled_, bytes.size());
      std::copy_n(bytes.begin(), wanted, head_.begin() + static_cast<std::ptrdiff_t>(filled_));
      bytes.remove_prefix(wanted);
      filled_ += wanted;
      if (filled_ < head_.size()) continue;
      filled_ = 0;
      const FrameHead head{.length = byte(0) << 16U | byte(1) << 8U | byte(2),
                           .type = static_cast<std::uint8_t>(byte(3)),
                           .flags = static_cast<std::uint8_t>(byte(4))};
      skip_ = head.length;
      seen(head);
    }
  }

 private:
  [[nodiscard]] std::size_t byte(std::size_t place) const noexcept {
    return static_cast<unsigned char>(head_.at(place));
  }

  std::size_t skip_ = kPrefaceBytes;
  std::size_t filled_ = 0;
  std::array<char, 9> head_{};
};

}  // namespace penstock::http2
