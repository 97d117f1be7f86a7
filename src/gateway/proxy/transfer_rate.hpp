#pragma once

#include "penstock/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace penstock::gateway {

// Whether the other side of one transfer is too slow: it may be behind the minimum rate by `grace`.
// Only time that we wait for it counts, so that a slow upstream is not the client's fault. Speed is
// not saved up: a client that sends much at first, or fills the buffers of the kernel, cannot be
// slower later. A timeout between two pieces does not see a client that sends one byte at a time.
class TransferRate {
 public:
  // `bytes_per_second` of 0: no minimum rate.
  TransferRate(std::size_t bytes_per_second, Duration grace) noexcept
      : rate_(bytes_per_second), grace_(grace) {}

  // We waited for `time`, and then `bytes` were transferred.
  void waited(std::chrono::nanoseconds time, std::size_t bytes) noexcept {
    if (rate_ == 0) return;
    behind_ += time;
    // whole seconds apart, which keeps the product small
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
