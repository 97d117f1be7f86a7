#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::redis {

// Exponential backoff: the pause doubles after each attempt, up to a maximum. Jitter removes up to
// half of each pause, so that many clients of one failed server do not reconnect at the same
// moment.
//
// Thread-safety: none.
class Backoff {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // REQUIRES: 0 < min <= max
  Backoff(Duration min, Duration max);

  // `random` is uniformly distributed.
  [[nodiscard]] Duration next(std::uint32_t random);
  void reset() { pause_ = min_; }
  // The current pause stays, within the new bounds. REQUIRES: as the constructor.
  void reconfigure(Duration min, Duration max);

 private:
  Duration min_;
  Duration max_;
  Duration pause_;
};

// Circuit breaker of one server. It opens after `failures` consecutive failures. While it is open
// it allows one probe after a pause, which doubles after each failed probe; a successful probe
// closes it.
//
// Thread-safety: none.
class CircuitBreaker {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class State : std::uint8_t { Closed, Open, HalfOpen };
  enum class Change : std::uint8_t { None, Opened, Closed };

  // REQUIRES: failures > 0, and the requirements of Backoff
  CircuitBreaker(unsigned failures, Backoff::Duration min, Backoff::Duration max);

  // From the next failure on; an open breaker keeps the time of its next probe.
  void reconfigure(unsigned failures, Backoff::Duration min, Backoff::Duration max);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool lets_through() const noexcept { return state_ == State::Closed; }
  // When the next probe is due. REQUIRES: state() == State::Open
  [[nodiscard]] Time probe_at() const noexcept { return probe_at_; }

  // Whether the caller must send a probe now. The next success or failure is its result.
  [[nodiscard]] bool start_probe(Time now);

  Change on_success();
  // Failures of calls sent before the breaker opened have no effect.
  Change on_failure(Time now, std::uint32_t random);

 private:
  void open(Time now, std::uint32_t random);

  unsigned limit_;
  Backoff pause_;
  State state_ = State::Closed;
  unsigned failures_ = 0;
  Time probe_at_{};
};

}  // namespace penstock::redis
