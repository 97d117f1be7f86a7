#include "redis/backoff.hpp"

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

}  // namespace penstock::redis
