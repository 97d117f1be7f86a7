#include "audit/pace.hpp"

#include <algorithm>
#include <thread>

namespace penstock::audit {

using SteadyClock = std::chrono::steady_clock;

Pace::Pace(std::uint64_t per_second) : per_second_(per_second), next_(SteadyClock::now()) {}

void Pace::wait_for(std::uint64_t count) {
  if (per_second_ == 0) return;
  const SteadyClock::time_point now = SteadyClock::now();
  std::this_thread::sleep_until(next_);
  // unused time does not accumulate
  next_ = std::max(next_, now) + std::chrono::nanoseconds{count * 1'000'000'000 / per_second_};
}

}  // namespace penstock::audit
