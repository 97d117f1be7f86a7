#include "lease/denial.hpp"

#include "core/exact_span.hpp"
#include "lease/clock_error.hpp"

#include <algorithm>

namespace penstock::lease {
namespace {

// A request that only looks asks whether one would pass.
std::uint64_t asked_for(Cost cost) noexcept { return std::max<std::uint64_t>(cost.units, 1); }

Duration rounded_up(base::Deadline::duration time) noexcept {
  return std::chrono::ceil<Duration>(time);
}

}  // namespace

// From when it was asked. What was left would have passed. A bucket's wait for one cost tells that
// for every other: tokens arrive evenly. In a window nothing changes before its end. Elsewhere,
// what asks for more waits as long.
Duration Denial::refused_for(const Quota& quota, Cost cost) const noexcept {
  const Duration wait = said_.retry_after().value_or(Duration::max());
  const std::uint64_t asked = asked_for(cost);
  const std::uint64_t refused = asked_for(cost_);
  if (said_.outcome() == Outcome::Blocked) return wait;
  if (said_.outcome() == Outcome::Denied && asked <= said_.remaining()) return Duration{0};
  if (quota.is_bucket() && said_.outcome() == Outcome::Denied) {
    if (asked >= refused) return wait + Duration{quota.time_for(asked - refused).whole};
    return wait - core::ceil_micros(quota.time_for(refused - asked)) - Duration{1};
  }
  if (said_.outcome() == Outcome::Denied && (quota.algorithm() == Algorithm::FixedWindow ||
                                             quota.algorithm() == Algorithm::AnchoredWindow)) {
    return wait;
  }
  return asked >= refused ? wait : Duration{0};
}

std::optional<Decision> Denial::repeat(const Quota& quota, Cost cost,
                                       base::Deadline now) const noexcept {
  if (!(quota.identity() == quota_) || now >= ends()) return std::nullopt;
  // a cost that never fits has an answer of its own
  if ((cost.units > quota.capacity()) != (said_.outcome() == Outcome::NeverFits) &&
      said_.outcome() != Outcome::Blocked) {
    return std::nullopt;
  }
  const Duration refused = refused_for(quota, cost);
  // decided after it was asked: by now no more time has passed for the store than this
  const Duration passed = at_most(rounded_up(now - asked_));
  if (passed >= refused) return std::nullopt;
  // and no less than this, so that nobody comes back too early
  const Duration since_heard = std::chrono::floor<Duration>(now - heard_);
  const auto left = [&](Duration time) { return std::max(time - since_heard, Duration{1}); };
  const Duration reset =
      said_.reset_after() > Duration{0} ? left(said_.reset_after()) : Duration{0};
  const auto remaining =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(said_.remaining(), asked_for(cost) - 1));
  switch (said_.outcome()) {
    case Outcome::Blocked: return Decision::block(said_.limit(), left(refused));
    case Outcome::NeverFits: return Decision::never_fits(said_.limit(), said_.remaining(), reset);
    default:
      return Decision::deny(said_.limit(), remaining, std::max(reset, left(refused)),
                            left(refused));
  }
}

}  // namespace penstock::lease
