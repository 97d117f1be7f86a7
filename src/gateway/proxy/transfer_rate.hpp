#pragma once

#include "penstock/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace penstock::gateway {

// Detects a peer that transfers below the minimum rate: it may be behind by at most `grace`. Only
// time spent waiting for the peer counts, so that a slow upstream is not blamed on the client.
// Earlier speed is not credited: a fast start, or data that fills kernel buffers, does not allow
// slowness later. A timeout per piece does not detect a client that sends one byte at a time.
class TransferRate {
 public:
  // `bytes_per_second` of 0: no minimum rate.
  TransferRate(std::size_t bytes_per_second, Duration grace) noexcept
      : rate_(bytes_per_second), grace_(grace) {}

  // Records a wait of `time`, after which `bytes` were transferred.
  void waited(std::chrono::nanoseconds time, std::size_t bytes) noexcept {
    if (rate_ == 0) return;
    behind_ += time;
    // Whole seconds separately, which keeps the product small.
    behind_ -= std::chrono::seconds{bytes / rate_};
    behind_ -= std::chrono::nanoseconds{bytes % rate_ * kNanoseconds / rate_};
    behind_ = std::max(behind_, std::chrono::nanoseconds{0});
  }
  [[nodiscard]] bool is_too_slow() const noexcept { return behind_ > grace_; }

 private:
  static constexpr std::uint64_t kNanoseconds = 1'000'000'000;

  std::uint64_t rate_;
  std::chrono::nanoseconds grace_;
  std::chrono::nanoseconds behind_{0};
};

}  // namespace penstock::gateway
