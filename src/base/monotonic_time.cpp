#include "base/monotonic_time.hpp"

#include <cstdint>

#if defined(__x86_64__)

#include <cpuid.h>
#include <x86intrin.h>

#include <fstream>
#include <string>

namespace penstock::base {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// Long enough to pay for the reading of the real clock, short enough that an extrapolation over it
// cannot be off by a microsecond.
constexpr nanoseconds kAnchorLife = std::chrono::milliseconds{1};
// A rate measured over this long is good to one in ten thousand: 100 ns per life of an anchor.
constexpr nanoseconds kShortestMeasure = std::chrono::microseconds{500};

bool has_trustworthy_counter() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kPowerManagementLeaf = 0x80000007;
  constexpr unsigned kInvariantCounter = 1U << 8U;
  if (__get_cpuid(kPowerManagementLeaf, &eax, &ebx, &ecx, &edx) == 0 ||
      (edx & kInvariantCounter) == 0) {
    return false;
  }
  // The kernel watches the counters of all processors and stops using them when they disagree.
  std::ifstream kernel_choice("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return std::getline(kernel_choice, name) && name == "tsc";
}

// One thread's tie between the counter and the real clock.
class Anchor {
 public:
  [[nodiscard]] SteadyClock::time_point now() noexcept {
    const std::uint64_t elapsed = __rdtsc() - counter_;
    if (elapsed < life_) [[likely]] {
      return time_ +
             nanoseconds{static_cast<std::int64_t>((elapsed * nanos_per_tick_) >> kFractionBits)};
    }
    return renew();
  }

 private:
  static constexpr unsigned kFractionBits = 32;

  SteadyClock::time_point renew() noexcept {
    const SteadyClock::time_point time = SteadyClock::now();
    const std::uint64_t counter = __rdtsc();
    const auto nanos = static_cast<std::uint64_t>(nanoseconds{time - measured_since_}.count());
    const std::uint64_t ticks = counter - measured_counter_;
    const auto longest = static_cast<std::uint64_t>(nanoseconds{std::chrono::seconds{1}}.count());
    if (measured_counter_ == 0 || nanos > longest) {
      // first reading of this thread, or after a pause: measure afresh
      measured_since_ = time;
      measured_counter_ = counter;
    } else if (nanos >= static_cast<std::uint64_t>(kShortestMeasure.count()) && ticks > 0) {
      nanos_per_tick_ = (nanos << kFractionBits) / ticks;
      life_ = ticks * static_cast<std::uint64_t>(kAnchorLife.count()) / nanos;
      measured_since_ = time;
      measured_counter_ = counter;
    }
    time_ = time;
    counter_ = counter;
    return time;
  }

  std::uint64_t counter_ = 0;
  std::uint64_t life_ = 0;  // in ticks; zero until the rate is known
  std::uint64_t nanos_per_tick_ = 0;
  SteadyClock::time_point time_;
  SteadyClock::time_point measured_since_;
  std::uint64_t measured_counter_ = 0;
};

}  // namespace

SteadyClock::time_point monotonic_now() noexcept {
  static const bool trustworthy = has_trustworthy_counter();
  if (!trustworthy) return SteadyClock::now();
  thread_local Anchor anchor;
  return anchor.now();
}

}  // namespace penstock::base

#else

namespace penstock::base {

std::chrono::steady_clock::time_point monotonic_now() noexcept {
  return std::chrono::steady_clock::now();
}

}  // namespace penstock::base

#endif
