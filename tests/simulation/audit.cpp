#include "simulation/audit.hpp"

#include <algorithm>
#include <utility>

namespace penstock::simulation {
namespace {

ExactSpan full_at_of(const core::AnyState& state) {
  if (const auto* bucket = std::get_if<core::TokenBucket::State>(&state)) return bucket->full_at;
  if (const auto* gcra = std::get_if<core::Gcra::State>(&state)) return gcra->idle_at;
  return {};
}

ExactSpan span_of(Instant at) { return {.whole = at.time_since_epoch().count(), .part = 0}; }

}  // namespace

ExactSpan Audit::full_at(const StoredState& stored, Duration lifetime, Instant at) const {
  StoredState copy = stored;
  core::advance(copy.state, copy.escrow, quota_, lifetime, at);
  return std::max(full_at_of(copy.state), span_of(at));
}

// At its rate the time stays the same; leases can only delay it.
void Audit::check_epoch_ends(const StoredState& stored, Duration lifetime, Instant now) {
  Instant end{(stored.escrow.epoch + 1) * stored.escrow.lifetime};
  for (int i = 0; i < 2 && end <= now; ++i, end += stored.escrow.lifetime) {
    if (end - Duration{1} <= last_) continue;
    const ExactSpan then = full_at(stored, lifetime, end - Duration{1});
    if (full_at(stored, lifetime, end) < then || full_at(stored, lifetime, now) < then) {
      broken_ = "the bucket refills at once where an epoch ends";
    }
  }
}

void Audit::before(const StoredState& stored, const store::LeaseRequest& ask, Instant now) {
  if (!broken_.empty()) return;
  is_excused_ = is_excused_ || now < last_;
  if (!is_excused_ && stored.escrow.leased() > 0)
    check_epoch_ends(stored, *ask.strict_lifetime, now);
  StoredState copy = stored;
  core::advance(copy.state, copy.escrow, quota_, *ask.strict_lifetime, now);
  at_least_ = std::max(full_at_of(copy.state), span_of(now));
  std::uint32_t returned = 0;
  for (const store::LeaseReport& report : ask.reports) {
    const bool is_current = report.epoch == copy.escrow.epoch;
    if (is_current || report.epoch == copy.escrow.epoch - 1) returned += report.returned;
  }
  const ExactSpan credit = quota_.time_for(std::min(returned, quota_.capacity()));
  at_least_ =
      at_least_ <= credit ? ExactSpan{} : core::minus(at_least_, credit, quota_.rate_units());
}

void Audit::after(const StoredState& stored, std::uint32_t used, Instant now) {
  if (!std::exchange(is_excused_, false) && broken_.empty()) {
    const ExactSpan full = std::max(full_at_of(stored.state), span_of(now));
    const ExactSpan expected = core::plus(at_least_, quota_.time_for(used), quota_.rate_units());
    const ExactSpan leased = core::bucket_meter::instant_after(
        now, quota_.time_for(std::min(stored.escrow.leased(), quota_.capacity())), quota_);
    if (full < expected) broken_ = "the bucket has more than it had, without what it gave";
    if (full < leased || stored.escrow.leased() > quota_.capacity()) {
      broken_ = "tokens and what is leased are more than the burst";
    }
  }
  last_ = now;
}

}  // namespace penstock::simulation
