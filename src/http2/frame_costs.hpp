#pragma once

#include "http2/frame_scanner.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>

namespace penstock::http2 {

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

}  // namespace penstock::http2
