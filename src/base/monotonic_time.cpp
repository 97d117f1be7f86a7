#include "base/monotonic_time.hpp"

#include "base/clock_anchor.hpp"

#include <cstdint>

#if defined(__x86_64__)

#include <cpuid.h>
#include <x86intrin.h>

#include <fstream>
#include <string>

namespace penstock::base {
namespace {

using SteadyClock = std::chrono::steady_clock;

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

struct Processor {
  static std::uint64_t ticks() noexcept { return __rdtsc(); }
  static SteadyClock::time_point time() noexcept { return SteadyClock::now(); }
};

}  // namespace

SteadyClock::time_point monotonic_now() noexcept {
  static const bool trustworthy = has_trustworthy_counter();
  if (!trustworthy) return SteadyClock::now();
  thread_local ClockAnchor<Processor> anchor;
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
