#pragma once

#include "base/deadline.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <chrono>
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

// Decides which frames of a client are charged to its FloodBudget: frames that cost work and bring
// nothing. Window updates are free as long as there was data or a stream for them.
class FrameCosts {
 public:
  // A frame of data was sent.
  void on_data_sent() noexcept { expect_updates(kUpdatesPerData); }
  void on_stream_opened() noexcept { expect_updates(kUpdatesPerStream); }
  // A header block began that is used: the library drops header blocks of streams that have ended.
  void on_headers_used() noexcept {
    if (unused_headers_ > 0) --unused_headers_;
  }
  // True once for each header block that was dropped. The last one may still be arriving.
  [[nodiscard]] bool take_dropped_headers() noexcept {
    if (unused_headers_ <= 1) return false;
    --unused_headers_;
    return true;
  }

  [[nodiscard]] bool is_charged(const FrameHead& frame) noexcept {
    const auto has = [&frame](unsigned flag) { return (frame.flags & flag) != 0; };
    switch (frame.type) {
      case NGHTTP2_DATA: return frame.length == 0 && !has(NGHTTP2_FLAG_END_STREAM);
      case NGHTTP2_SETTINGS:
      case NGHTTP2_PING: return !has(NGHTTP2_FLAG_ACK);
      case NGHTTP2_HEADERS: ++unused_headers_; return false;
      case NGHTTP2_CONTINUATION:  // the library counts them
      case NGHTTP2_GOAWAY: return false;
      case NGHTTP2_WINDOW_UPDATE:
        if (updates_ == 0) return true;
        --updates_;
        return false;
      default: return true;
    }
  }

 private:
  static constexpr std::size_t kUpdatesPerData = 10;
  static constexpr std::size_t kUpdatesPerStream = 2;
  static constexpr std::size_t kMaxUpdates = 10'000;

  void expect_updates(std::size_t more) noexcept {
    updates_ = std::min(kMaxUpdates, updates_ + more);
  }

  std::size_t updates_ = 0;  // that the client may send
  std::size_t unused_headers_ = 0;
};

// How much a client may bother us: `burst` at once, `rate` a second.
class FloodBudget {
 public:
  FloodBudget(std::uint32_t burst, std::uint32_t rate) noexcept
      : burst_(burst), rate_(rate), left_(burst) {}

  // Time has passed; a clock that steps back brings nothing.
  void refill(base::Deadline now) noexcept {
    using std::chrono::milliseconds;
    if (left_ == burst_) {
      since_ = now;
      return;
    }
    const auto passed = std::chrono::duration_cast<milliseconds>(now - since_).count();
    if (passed <= 0) return;
    const std::int64_t earned = std::min<std::int64_t>(passed, 1'000'000) * rate_ / 1000;
    if (earned == 0) return;
    left_ = std::min(burst_, left_ + earned);
    since_ = now;
  }

  // False when there is nothing left.
  [[nodiscard]] bool spend() noexcept {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  std::int64_t burst_;
  std::int64_t rate_;
  std::int64_t left_;
  base::Deadline since_{};
};

}  // namespace penstock::http2
