#include "simulation/envelope.hpp"

#include <algorithm>

namespace penstock::simulation {

Envelope::Units Envelope::tokens(std::int64_t count) const {
  return Units{count} * static_cast<Units>(quota_.token_units());
}

Envelope::Units Envelope::refill(Duration time) const {
  return Units{time.count()} * static_cast<Units>(quota_.rate_units());
}

// For a bucket: the sum of costs i..j is at most burst + rate * (t_j - t_i) for all i <= j, if and
// only if a bucket leaking at that rate never exceeds the burst.
void Envelope::admit(std::uint64_t tokens_now, Instant now, std::optional<Instant> window_end) {
  const Units taken = tokens(static_cast<std::int64_t>(tokens_now));
  if (quota_.is_bucket()) {
    level_ = std::max<Units>(0, level_ - refill(now - last_)) + taken;
    last_ = now;
  } else if (quota_.algorithm() == Algorithm::SubWindows) {
    period_.push_back({.at = now, .tokens = tokens_now});
    level_ += taken;
    while (period_.front().at <= now - quota_.period()) {
      level_ -= tokens(static_cast<std::int64_t>(period_.front().tokens));
      period_.pop_front();
    }
  } else {
    const Instant end =
        window_end.value_or(now - now.time_since_epoch() % quota_.period() + quota_.period());
    if (end != window_end_) level_ = 0;
    window_end_ = end;
    level_ += taken;
  }
  excess_ = level_ - tokens(quota_.capacity());
}

}  // namespace penstock::simulation
