#pragma once

#include "base/deadline.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace penstock::http2 {

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
