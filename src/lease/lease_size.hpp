#pragma once

#include "base/deadline.hpp"
#include "penstock/time.hpp"

#include <algorithm>
#include <cstdint>

// Two clocks that are not stepped still differ in rate: by less than one part in a thousand, which
// exceeds the rate correction of any kernel.
namespace penstock::lease {

inline constexpr std::int64_t kClockError = 1000;

// Upper bound of the time elsewhere while `time` passes here.
[[nodiscard]] constexpr Duration at_most(Duration time) noexcept {
  return time + time / kClockError + Duration{1};
}

// Lower bound of the time elsewhere while `time` passes here.
[[nodiscard]] constexpr Duration at_least(Duration time) noexcept {
  return time - time / kClockError - Duration{1};
}

// How much to lease and when to request more, from the recent admission rate and the store's
// response time. A lease should last half its lifetime, and the next one should arrive before it
// runs out.
//
// The rate decays with time: after a lifetime without admissions it is zero.
//
// Thread-safety: none.
class LeaseSize {
 public:
  LeaseSize(Duration lifetime, base::Deadline now) noexcept
      : lifetime_(lifetime), began_(now), since_(now) {}

  void note_admitted(std::uint64_t units, base::Deadline now) noexcept {
    if (now - since_ >= lifetime_ / 2) fold(now);
    demand_ += units;
  }
  void note_answer(base::Deadline::duration took) noexcept;

  // Units spent in half a lifetime, or while they count, if that is shorter.
  [[nodiscard]] std::uint64_t want(base::Deadline now,
                                   base::Deadline::duration counts_for) const noexcept;
  // Request more when fewer are in hand: the units spent during a call.
  [[nodiscard]] std::uint64_t low_water(base::Deadline now) const noexcept;
  // A lease that ends this soon counts as ended when more is on its way.
  [[nodiscard]] base::Deadline::duration ahead() const noexcept { return 2 * answer_time_; }
  // Pause after an answer that left nothing, until enough units have refilled for a call. Earlier
  // requests are denied, so it is short compared to any client timeout.
  [[nodiscard]] base::Deadline::duration pause() const noexcept {
    return std::min<base::Deadline::duration>(lifetime_ / 16, kMaxPause);
  }
  static constexpr std::chrono::milliseconds kMaxPause{5};

  // Whether only a few units are admitted per lifetime.
  [[nodiscard]] bool is_cold(base::Deadline now) const noexcept;
  void change_lifetime(Duration lifetime) noexcept { lifetime_ = lifetime; }

 private:
  static constexpr std::uint64_t kMinUnits = 4;

  void fold(base::Deadline now) noexcept;
  // Units per lifetime, recently.
  [[nodiscard]] std::uint64_t rate(base::Deadline now) const noexcept;
  [[nodiscard]] std::uint64_t spent_in(base::Deadline::duration time,
                                       base::Deadline now) const noexcept;

  Duration lifetime_;
  base::Deadline began_;
  base::Deadline since_;  // when demand_ was zero
  std::uint64_t demand_ = 0;
  std::uint64_t rate_ = 0;  // until since_, in units per lifetime
  base::Deadline::duration answer_time_ = std::chrono::milliseconds{1};
};

}  // namespace penstock::lease
