#include "redis/circuit_breaker.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace penstock::redis {

Backoff::Backoff(Duration min, Duration max) : min_(min), max_(max), pause_(min) {
  PENSTOCK_CHECK(Duration::zero() < min && min <= max);
}

Backoff::Duration Backoff::next(std::uint32_t random) {
  const Duration pause = pause_;
  pause_ = pause_ > max_ / 2 ? max_ : pause_ * 2;
  const Duration::rep half = pause.count() / 2;
  return pause - Duration(half > 0 ? static_cast<Duration::rep>(random) % half : 0);
}

void Backoff::reconfigure(Duration min, Duration max) {
  PENSTOCK_CHECK(Duration::zero() < min && min <= max);
  min_ = min;
  max_ = max;
  pause_ = std::clamp(pause_, min, max);
}

CircuitBreaker::CircuitBreaker(unsigned failures, Backoff::Duration min, Backoff::Duration max)
    : limit_(failures), pause_(min, max) {
  PENSTOCK_CHECK(failures > 0);
}

void CircuitBreaker::reconfigure(unsigned failures, Backoff::Duration min, Backoff::Duration max) {
  PENSTOCK_CHECK(failures > 0);
  limit_ = failures;
  pause_.reconfigure(min, max);
}

bool CircuitBreaker::start_probe(Time now) {
  if (state_ != State::Open || now < probe_at_) return false;
  state_ = State::HalfOpen;
  return true;
}

CircuitBreaker::Change CircuitBreaker::on_success() {
  failures_ = 0;
  if (state_ == State::Closed) return Change::None;
  state_ = State::Closed;
  pause_.reset();
  return Change::Closed;
}

CircuitBreaker::Change CircuitBreaker::on_failure(Time now, std::uint32_t random) {
  switch (state_) {
    case State::Open: return Change::None;
    case State::HalfOpen: open(now, random); return Change::None;
    case State::Closed: break;
  }
  if (++failures_ < limit_) return Change::None;
  open(now, random);
  return Change::Opened;
}

void CircuitBreaker::open(Time now, std::uint32_t random) {
  state_ = State::Open;
  failures_ = 0;
  probe_at_ = now + pause_.next(random);
}

}  // namespace penstock::redis
