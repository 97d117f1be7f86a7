#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::redis {

// Exponential backoff: the pause doubles after each attempt, up to a maximum. Jitter removes up to
// half of each pause, so that many clients of one failed server do not reconnect at the same
// moment.
//
// Thread-safety: none.
class Backoff {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // REQUIRES: 0 < min <= max
  Backoff(Duration min, Duration max);

  // `random` is uniformly distributed.
  [[nodiscard]] Duration next(std::uint32_t random);
  void reset() { pause_ = min_; }

 private:
  Duration min_;
  Duration max_;
  Duration pause_;
};

}  // namespace penstock::redis
