#include "base/clock_anchor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace penstock::base {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// A processor on which each reading takes 20 ns, and a thread that may be suspended before one for
// as long as the test says.
struct Machine {
  static constexpr std::uint64_t kTicksPerNanosecond = 3;
  static constexpr nanoseconds kReading{20};

  static inline TimePoint now{};
  static inline std::function<nanoseconds()> put_aside{};

  static void start() {
    now = TimePoint{std::chrono::hours{1}};
    put_aside = [] { return nanoseconds{0}; };
  }
  static void pass() { now += kReading + put_aside(); }
  static std::uint64_t ticks() {
    pass();
    return static_cast<std::uint64_t>(now.time_since_epoch().count()) * kTicksPerNanosecond;
  }
  static TimePoint time() {
    pass();
    return now;
  }
};

using Anchor = ClockAnchor<Machine>;

// How far outside of the time that it took a reading lies.
nanoseconds error_of_reading(Anchor& anchor) {
  const TimePoint before = Machine::now;
  const TimePoint reading = anchor.now();
  const TimePoint after = Machine::now;
  return std::max({nanoseconds{0}, nanoseconds{before - reading}, nanoseconds{reading - after}});
}

// An extrapolation over a millisecond, with the bit of error that belonging together allows.
constexpr nanoseconds kTolerance = microseconds{3};

TEST(ClockAnchor, ReadsTheCounterAloneMostOfTheTime) {
  Machine::start();
  Anchor anchor;
  int readings = 0;
  Machine::put_aside = [&readings] {
    ++readings;
    return nanoseconds{0};
  };
  for (int i = 0; i < 100'000; ++i) {
    Machine::now += nanoseconds{500};
    ASSERT_LE(error_of_reading(anchor), kTolerance);
  }
  EXPECT_LT(readings, 105'000);
}

TEST(ClockAnchor, ARenewalThatIsInterruptedTiesNothing) {
  for (int place = 0; place < 3; ++place) {  // before each of the readings of a renewal
    Machine::start();
    Anchor anchor;
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(anchor.now());
      Machine::now += microseconds{600};
    }
    Machine::now += milliseconds{2};  // it has to be renewed
    int reading = 0;
    Machine::put_aside = [&] {
      return nanoseconds{reading++ == place + 1 ? milliseconds{5} : milliseconds{0}};
    };
    ASSERT_LE(error_of_reading(anchor), kTolerance) << place;
    for (int i = 0; i < 1000; ++i) {
      Machine::now += microseconds{3};
      ASSERT_LE(error_of_reading(anchor), kTolerance) << place << ", reading " << i;
    }
  }
}

RC_GTEST_PROP(ClockAnchor, IsRightWhereverAndHoweverLongItIsPutAside, ()) {
  Machine::start();
  Anchor anchor;
  const auto pauses = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 400), rc::gen::inRange(0, 20'000'000)));
  for (const auto& [gap, pause] : pauses) {
    int until = gap;
    Machine::put_aside = [&until, length = nanoseconds{pause}] {
      return until-- == 0 ? length : nanoseconds{0};
    };
    for (int i = 0; i < 300; ++i) {
      Machine::now += nanoseconds{4987};
      RC_ASSERT(error_of_reading(anchor) <= kTolerance);
    }
  }
}

}  // namespace
}  // namespace penstock::base
