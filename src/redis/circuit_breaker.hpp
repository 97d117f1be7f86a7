#pragma once

#include "redis/backoff.hpp"

#include <chrono>
#include <cstdint>

namespace penstock::redis {

// Whether a server is worth asking. It is, until so many failures came in a row without a success
// in between. From then on nobody asks it but for one probe after a pause, and another after twice
// that pause, until a probe succeeds.
//
// Thread-safety: none.
class CircuitBreaker {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class State : std::uint8_t { Closed, Open, HalfOpen };
  enum class Change : std::uint8_t { None, Opened, Closed };

  // REQUIRES: failures > 0, and what Backoff requires
  CircuitBreaker(unsigned failures, Backoff::Duration min, Backoff::Duration max);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool lets_through() const noexcept { return state_ == State::Closed; }
  // When the next probe is due. REQUIRES: state() == State::Open
  [[nodiscard]] Time probe_at() const noexcept { return probe_at_; }

  // Whether the caller shall send a probe now. The next success or failure is taken as its result.
  [[nodiscard]] bool start_probe(Time now);

  Change on_success();
  // Failures of calls that were sent before it opened change nothing.
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
