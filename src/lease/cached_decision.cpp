#include "lease/cached_decision.hpp"

#include "core/exact_span.hpp"
#include "lease/lease_size.hpp"

#include <algorithm>

namespace penstock::lease {
namespace {

// A peek asks whether one unit would fit.
std::uint64_t needed_units(Cost cost) noexcept { return std::max<std::uint64_t>(cost.units, 1); }

// A cost of a bucket with a known wait, counted from the answer.
struct KnownWait {
  std::uint64_t cost = 0;
  Duration wait{0};
};

// A denial has the wait of the denied cost. Every answer has that of the whole bucket.
KnownWait known_of(const Decision& decision, Cost denied, const Quota& quota) noexcept {
  if (decision.outcome() == Outcome::Denied) {
    return {.cost = needed_units(denied), .wait = decision.retry_after().value_or(Duration{0})};
  }
  return {.cost = quota.capacity(), .wait = decision.reset_after()};
}

bool is_plain_window(const Quota& quota) noexcept {
  return quota.algorithm() == Algorithm::FixedWindow ||
         quota.algorithm() == Algorithm::AnchoredWindow;
}

}  // namespace

// The store decided between the request and the arrival of its answer.
CachedDecision::Passed CachedDecision::passed_by(base::Deadline now) const noexcept {
  return {
      .least = std::max(at_least(std::chrono::floor<Duration>(now - received_at_)), Duration{0}),
      .most = at_most(std::chrono::ceil<Duration>(now - sent_at_))};
}

// The known wait is rounded up to a microsecond, and so is the result.
CachedDecision::Wait CachedDecision::bucket_wait(const Quota& quota,
                                                 std::uint64_t units) const noexcept {
  const KnownWait known = known_of(decision_, cost_, quota);
  if (units == known.cost) return {.least = known.wait, .most = known.wait};
  if (units > known.cost) {
    const ExactSpan longer = quota.time_for(units - known.cost);
    return {.least = known.wait + Duration{longer.whole},
            .most = known.wait + core::ceil_micros(longer)};
  }
  const ExactSpan shorter = quota.time_for(known.cost - units);
  return {.least = known.wait - core::ceil_micros(shorter) - Duration{1},
          .most = known.wait - Duration{shorter.whole}};
}

// REQUIRES: a cost within the capacity; not blocked.
CachedDecision::Wait CachedDecision::wait_for(const Quota& quota,
                                              std::uint64_t units) const noexcept {
  if (units <= decision_.remaining()) return {};
  if (!decision_.drains_as_another_quota()) {
    if (quota.is_bucket()) return bucket_wait(quota, units);
    // a cost that does not fit waits for the end of the window
    if (is_plain_window(quota)) {
      return {.least = decision_.reset_after(), .most = decision_.reset_after()};
    }
  }
  const bool is_same_denial =
      decision_.outcome() == Outcome::Denied && units == needed_units(cost_);
  // an admission makes the key adopt the request's quota, which may drain faster: nothing is
  // admitted before the first unit is free
  const bool is_certain = !decision_.drains_as_another_quota() || units == 1;
  const Duration wait = is_same_denial && is_certain ? *decision_.retry_after() : Duration{0};
  return {.least = wait, .most = wait};
}

std::uint32_t CachedDecision::remaining_after(const Quota& quota, Duration passed) const noexcept {
  if (!quota.is_bucket() || decision_.drains_as_another_quota()) return decision_.remaining();
  const KnownWait known = known_of(decision_, cost_, quota);
  const auto span = [](Duration time) { return ExactSpan{.whole = time.count(), .part = 0}; };
  std::uint64_t tokens = known.cost;
  if (passed < known.wait) {
    tokens -=
        std::min<std::uint64_t>(tokens, core::tokens_in_ceil(span(known.wait - passed), quota));
  } else {
    tokens += core::tokens_in(span(passed - known.wait), quota);
  }
  tokens = std::clamp<std::uint64_t>(tokens, decision_.remaining(), quota.capacity());
  return static_cast<std::uint32_t>(tokens);
}

bool CachedDecision::may_be_over(const Quota& quota, const Passed& passed) const noexcept {
  if (quota.is_bucket() || decision_.reset_after() == Duration{0}) return false;
  return passed.most >= decision_.reset_after();
}

Duration CachedDecision::reset_after(Duration passed) const noexcept {
  return std::max(decision_.reset_after() - passed, Duration{0});
}

std::optional<Decision> CachedDecision::repeat(const Quota& quota, Cost cost,
                                               base::Deadline now) const noexcept {
  if (!applies(quota, now)) return std::nullopt;
  const Passed passed = passed_by(now);
  const auto left = [&](Duration wait) { return std::max(wait - passed.least, Duration{1}); };
  if (decision_.outcome() == Outcome::Blocked) {
    const Duration wait = decision_.retry_after().value_or(Duration{0});
    if (passed.most >= wait) return std::nullopt;
    return Decision::block(decision_.limit(), left(wait));
  }
  const std::uint32_t remaining = remaining_after(quota, passed.least);
  if (cost.units > quota.capacity()) {
    if (decision_.outcome() != Outcome::NeverFits || may_be_over(quota, passed)) {
      return std::nullopt;
    }
    return Decision::never_fits(decision_.limit(), remaining, reset_after(passed.least));
  }
  const std::uint64_t units = needed_units(cost);
  const Wait wait = wait_for(quota, units);
  if (passed.most >= wait.least) return std::nullopt;
  return Decision::deny(decision_.limit(),
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(remaining, units - 1)),
                        std::max(reset_after(passed.least), left(wait.most)), left(wait.most));
}

std::optional<Decision> CachedDecision::snapshot(const Quota& quota, Cost cost,
                                                 base::Deadline now) const noexcept {
  if (!applies(quota, now) || decision_.outcome() == Outcome::Blocked) return std::nullopt;
  const Passed passed = passed_by(now);
  if (may_be_over(quota, passed)) return std::nullopt;
  const std::uint32_t remaining = remaining_after(quota, passed.least);
  if (needed_units(cost) > remaining) return std::nullopt;
  return Decision::allow(decision_.limit(), remaining, reset_after(passed.least));
}

}  // namespace penstock::lease
