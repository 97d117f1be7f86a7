#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::redis {

// How long to wait before the next attempt: doubled after each, up to a limit. Of the second half
// of each pause a random part is left out, so that many clients of one dead server do not come back
// all at once.
//
// Thread-safety: none.
class Backoff {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // REQUIRES: 0 < min <= max
  Backoff(Duration min, Duration max);

  // `random` is any number, the same chance for all.
  [[nodiscard]] Duration next(std::uint32_t random);
  void reset() { pause_ = min_; }

 private:
  Duration min_;
  Duration max_;
  Duration pause_;
};

}  // namespace penstock::redis
