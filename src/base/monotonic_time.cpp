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
// Beyond this, 64 bits would not hold the products below; a thread that paused measures afresh.
constexpr nanoseconds kLongestMeasure = std::chrono::seconds{1};
// Reading the real clock takes a tenth of this; a counter of 5 GHz is assumed to be the fastest.
constexpr std::uint64_t kMostTicksBetween = 2000;
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
    const std::uint64_t before = __rdtsc();
    const SteadyClock::time_point time = SteadyClock::now();
    const std::uint64_t counter = __rdtsc();
    // Whoever is interrupted between the two readings knows nothing about how they go together.
    const bool belong_together = counter - before < kMostTicksBetween;
    const bool measurable = belong_together && measured_counter_ != 0 &&
                            counter > measured_counter_ && time - measured_since_ < kLongestMeasure;
    if (!measurable) {
      life_ = 0;  // the real clock, until a rate is measured again
      measured_counter_ = belong_together ? counter : 0;
      measured_since_ = time;
    } else if (time - measured_since_ >= kShortestMeasure) {
      const auto nanos = static_cast<std::uint64_t>(nanoseconds{time - measured_since_}.count());
      const std::uint64_t ticks = counter - measured_counter_;
      nanos_per_tick_ = (nanos << kFractionBits) / ticks;
      life_ = ticks * static_cast<std::uint64_t>(kAnchorLife.count()) / nanos;
      measured_counter_ = counter;
      measured_since_ = time;
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
