#include "base/monotonic_time.hpp"
#include "penstock/clock.hpp"

#include <chrono>

namespace penstock {
namespace {

class AnchoredSystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    return std::chrono::floor<Duration>(anchor_ + (base::monotonic_now() - steady_anchor_));
  }

 private:
  std::chrono::steady_clock::time_point steady_anchor_ = base::monotonic_now();
  std::chrono::sys_time<std::chrono::nanoseconds> anchor_ = std::chrono::system_clock::now();
};

}  // namespace

const Clock& system_clock() noexcept {
  static const AnchoredSystemClock clock;
  return clock;
}

}  // namespace penstock
