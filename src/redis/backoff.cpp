#include "redis/backoff.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace penstock::redis {

Backoff::Backoff(Duration least, Duration most) : least_(least), most_(most), pause_(least) {
  PENSTOCK_CHECK(Duration::zero() < least && least <= most);
}

Backoff::Duration Backoff::next(std::uint32_t random) {
  const Duration pause = pause_;
  pause_ = pause_ > most_ / 2 ? most_ : pause_ * 2;
  const Duration::rep half = pause.count() / 2;
  return pause - Duration(half > 0 ? static_cast<Duration::rep>(random) % half : 0);
}

}  // namespace penstock::redis
