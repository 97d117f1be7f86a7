#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::base {

// Relates a tick counter to the real clock for one thread, so that time is computed from the
// counter alone for a while. `Source` has static ticks() and time(): what is read.
//
// Thread-safety: none.
template <class Source>
class ClockAnchor {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Nanoseconds = std::chrono::nanoseconds;

  // Long enough to pay for the reading of the real clock, short enough that an extrapolation over
  // it cannot be off by a microsecond.
  static constexpr Nanoseconds kLife = std::chrono::milliseconds{1};
  // Beyond this, 64 bits would not hold the products below; a thread that paused measures afresh.
  static constexpr Nanoseconds kMaxMeasuredTime = std::chrono::seconds{1};
  // Reading the real clock takes a tenth of this; a counter of 5 GHz is assumed to be the fastest.
  static constexpr std::uint64_t kMaxTicksBetween = 2000;
  // A rate measured over this long is good to one in ten thousand: 100 ns per life of an anchor.
  static constexpr Nanoseconds kMinMeasuredTime = std::chrono::microseconds{500};

  [[nodiscard]] TimePoint now() noexcept {
    const std::uint64_t elapsed = Source::ticks() - counter_;
    if (elapsed < life_) [[likely]] {
      return time_ +
             Nanoseconds{static_cast<std::int64_t>((elapsed * nanos_per_tick_) >> kFractionBits)};
    }
    return renew();
  }

 private:
  static constexpr unsigned kFractionBits = 32;

  TimePoint renew() noexcept {
    const std::uint64_t before = Source::ticks();
    const TimePoint time = Source::time();
    const std::uint64_t counter = Source::ticks();
    // A thread that is interrupted between the two readings cannot relate them.
    const bool belong_together = counter - before < kMaxTicksBetween;
    const bool measurable = belong_together && measured_counter_ != 0 &&
                            counter > measured_counter_ &&
                            time - measured_since_ < kMaxMeasuredTime;
    if (!measurable) {
      life_ = 0;  // the real clock, until a rate is measured again
      measured_counter_ = belong_together ? counter : 0;
      measured_since_ = time;
    } else if (time - measured_since_ >= kMinMeasuredTime) {
      const auto nanos = static_cast<std::uint64_t>(Nanoseconds{time - measured_since_}.count());
      const std::uint64_t ticks = counter - measured_counter_;
      nanos_per_tick_ = (nanos << kFractionBits) / ticks;
      life_ = ticks * static_cast<std::uint64_t>(kLife.count()) / nanos;
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
  TimePoint time_;
  TimePoint measured_since_;
  std::uint64_t measured_counter_ = 0;
};

}  // namespace penstock::base
