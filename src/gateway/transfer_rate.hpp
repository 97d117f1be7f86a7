#pragma once

#include "penstock/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace penstock::gateway {

// Whether the other side of one transfer is too slow: it may make us wait for `grace` in all, and
// for as long again as its bytes take at the minimum rate. Only time that we wait for it counts, so
// that a slow upstream is not the client's fault. A timeout between two pieces does not see a
// client that sends one byte at a time.
class TransferRate {
 public:
  // `bytes_per_second` of 0: nobody is too slow.
  TransferRate(std::size_t bytes_per_second, Duration grace) noexcept
      : rate_(bytes_per_second), grace_(grace) {}

  // We waited for so long, and then so many bytes were transferred.
  void waited(std::chrono::nanoseconds time, std::size_t bytes) noexcept {
    waited_ += time;
    bytes_ += bytes;
  }
  [[nodiscard]] bool is_too_slow() const noexcept {
    if (rate_ == 0 || waited_ <= grace_) return false;
    const std::uint64_t seconds = bytes_ / rate_;
    return waited_ - grace_ > std::chrono::seconds{seconds};
  }

 private:
  std::size_t rate_;
  std::chrono::nanoseconds grace_;
  std::chrono::nanoseconds waited_{0};
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock::gateway
