#pragma once

#include "penstock/time.hpp"

#include <atomic>

namespace penstock {

// The time source of the memory store. An implementation must not step back; if it does, time
// stands still for the store until the clock has caught up.
//
// Thread-safety: now() is called from every thread that checks.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const noexcept = 0;
};

// The default: wall clock time at the start of the process, carried on by the monotonic clock.
// NTP steps do not reach it.
[[nodiscard]] const Clock& system_clock() noexcept;

// A clock for tests: it stands still until it is set or advanced.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{Days{20'000}}) noexcept : now_(start) {}

  [[nodiscard]] Instant now() const noexcept override { return now_.load(); }
  void set(Instant now) noexcept { now_.store(now); }
  void advance(Duration by) noexcept { now_.store(now_.load() + by); }

 private:
  std::atomic<Instant> now_;
};

}  // namespace penstock
