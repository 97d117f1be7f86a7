#include "core/lease.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace penstock::core {
namespace {

// How far ahead of the clock an epoch may be before it is given up: every reset skips two.
constexpr std::int64_t kMaxEpochsAhead = 64;

// The instant and time of a bucket, whichever of the two it is.
struct Bucket {
  ExactSpan full_at{};
  Instant at{};  // now, or when it was looked at last, if the clock has stepped back since
  bool changed = false;
};

Bucket bucket_of(AnyState& state, const Quota& quota, Instant now) {
  if (auto* bucket = std::get_if<TokenBucket::State>(&state)) {
    const bool changed = TokenBucket::settle(*bucket, quota, now);
    return {
        .full_at = bucket->full_at, .at = TokenBucket::effective(*bucket, now), .changed = changed};
  }
  if (auto* gcra = std::get_if<Gcra::State>(&state)) {
    const bool changed = Gcra::settle(*gcra, quota, now);
    return {.full_at = gcra->idle_at, .at = now, .changed = changed};
  }
  return {.full_at = {}, .at = now};
}

AnyState state_of(const Bucket& bucket, const Quota& quota) {
  if (quota.algorithm() == Algorithm::Gcra) return Gcra::State{.idle_at = bucket.full_at};
  return TokenBucket::State{.full_at = bucket.full_at, .last = bucket.at};
}

Instant end_of(const Escrow& escrow) { return Instant{(escrow.epoch + 1) * escrow.lifetime}; }

// When the bucket is full at the earliest, if so much of it was leased at that instant.
ExactSpan full_after(Instant at, std::uint32_t leased, const Quota& quota) {
  return bucket_meter::instant_after(at, quota.time_for(std::min(leased, quota.capacity())), quota);
}

void next_epoch(Escrow& escrow) {
  escrow.previous = escrow.current;
  escrow.current = 0;
  ++escrow.epoch;
}

void start_over(Escrow& escrow, Duration lifetime, Instant at) {
  const std::int64_t present = at.time_since_epoch() / lifetime;
  const bool is_ahead = escrow.leased() == 0 && escrow.lifetime == lifetime &&
                        escrow.epoch > present && escrow.epoch - present <= kMaxEpochsAhead;
  escrow.current = escrow.leased();
  escrow.previous = 0;
  escrow.lifetime = lifetime;
  if (!is_ahead) escrow.epoch = present;
}

// At most two epochs have something to say; then nothing is leased.
void roll(Bucket& bucket, Escrow& escrow, const Quota& quota) {
  while (escrow.leased() > 0 && end_of(escrow) <= bucket.at) {
    bucket.full_at = std::max(bucket.full_at, full_after(end_of(escrow), escrow.leased(), quota));
    next_epoch(escrow);
  }
  if (escrow.leased() == 0) return;
  const std::int64_t present = bucket.at.time_since_epoch() / escrow.lifetime;
  if (escrow.epoch - present <= kMaxEpochsAhead) return;
  start_over(escrow, escrow.lifetime, bucket.at);
  bucket.changed = true;
}

}  // namespace

bool can_lease(Algorithm algorithm) noexcept {
  return with_algorithm(algorithm, []<class Algorithm>() { return Algorithm::kCanLease; });
}

Duration lease_window(const Quota& quota) {
  return with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    if constexpr (Algorithm::kCanLease && !Algorithm::kIsBucket) {
      return Algorithm::lease_window(quota);
    } else {
      return Duration::max();
    }
  });
}

std::uint32_t portion(std::uint32_t available, const LeaseAmounts& amounts) {
  std::uint64_t units = std::min(amounts.want, available);
  if (amounts.sharers > 0) {
    const std::uint64_t part = available / (2 * std::uint64_t{amounts.sharers});
    units = std::min(units, std::max<std::uint64_t>(amounts.due, part));
  }
  return units < amounts.need ? 0 : static_cast<std::uint32_t>(units);
}

std::uint32_t take_up_to(AnyState& state, Quota& owner, const Quota& quota, std::uint32_t need,
                         std::uint32_t want, std::uint32_t sharers, Instant now) {
  const Decision before = evaluate_under(state, owner, quota, Cost{0}, now);
  const std::uint32_t taken =
      portion(before.remaining(), {.need = need, .due = need, .want = want, .sharers = sharers});
  static_cast<void>(decide_under(state, owner, quota, Cost{taken}, now));
  return taken;
}

std::uint32_t take_up_to(AnyState& state, const Quota& quota, std::uint32_t need,
                         std::uint32_t want, std::uint32_t sharers, Instant now) {
  Quota owner = quota;
  return take_up_to(state, owner, quota, need, want, sharers, now);
}

Duration counts_for(const AnyState& state, const Quota& quota, Instant now) {
  return with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    if constexpr (Algorithm::kCanLease && !Algorithm::kIsBucket) {
      const auto* held = std::get_if<typename Algorithm::State>(&state);
      typename Algorithm::State mine = held == nullptr ? typename Algorithm::State{} : *held;
      static_cast<void>(Algorithm::settle(mine, quota, now));
      return Algorithm::lease_end(mine, quota) - now;
    } else {
      return Duration::max();
    }
  });
}

bool advance(AnyState& state, Escrow& escrow, const Quota& quota, Duration lifetime, Instant now) {
  PENSTOCK_DCHECK(quota.is_bucket() && lifetime > Duration{0});
  const bool was_absent = std::holds_alternative<std::monostate>(state);
  const bool any_leased = escrow.leased() > 0;
  Bucket bucket = bucket_of(state, quota, now);
  roll(bucket, escrow, quota);
  if (escrow.leased() == 0 || lifetime > escrow.lifetime) {
    bucket.changed = bucket.changed || escrow.leased() > 0;
    start_over(escrow, lifetime, bucket.at);
  }
  bucket.full_at = std::max(bucket.full_at, full_after(bucket.at, escrow.leased(), quota));
  if (!was_absent || any_leased) state = state_of(bucket, quota);
  return bucket.changed;
}

void settle_report(AnyState& state, Escrow& escrow, const Quota& quota, std::int64_t epoch,
                   std::uint32_t spent, std::uint32_t returned, Instant now) {
  const bool is_current = epoch == escrow.epoch;
  if (!is_current && epoch != escrow.epoch - 1) return;
  std::uint32_t& leased = is_current ? escrow.current : escrow.previous;
  const std::uint32_t used = std::min(spent, leased);
  leased -= used;
  const std::uint32_t unused = std::min(returned, leased);
  leased -= unused;
  if (unused > 0) refund(state, quota, Cost{unused}, now);
}

StrictLeaseGrant lease_strictly(AnyState& state, Quota& owner, Escrow& escrow, const Quota& quota,
                                const StrictLeaseRequest& ask, Instant now) {
  const std::uint32_t available = evaluate_under(state, owner, quota, Cost{0}, now).remaining();
  StrictLeaseGrant grant;
  if (ask.cost > 0) grant.admitted = std::min(ask.count, available / ask.cost);
  const std::uint32_t used = grant.admitted * ask.cost;
  if (grant.admitted == ask.count) {
    grant.granted = portion(available - used, ask.lease);
  }
  static_cast<void>(decide_under(state, owner, quota, Cost{used + grant.granted}, now));
  escrow.current += grant.granted;
  return grant;
}

StrictLeaseGrant lease_strictly(AnyState& state, Escrow& escrow, const Quota& quota,
                                const StrictLeaseRequest& ask, Instant now) {
  Quota owner = quota;
  return lease_strictly(state, owner, escrow, quota, ask, now);
}

Escrow after_reset(const Escrow& escrow, Instant now) {
  if (escrow.lifetime <= Duration{0}) return {};
  const std::int64_t present = now.time_since_epoch() / escrow.lifetime;
  const std::int64_t next = std::max(escrow.epoch, present) + 2;
  return {.epoch = std::min(next, present + kMaxEpochsAhead), .lifetime = escrow.lifetime};
}

Instant expires_at(const Escrow& escrow, const Quota& quota) {
  if (escrow.leased() == 0) return Instant{escrow.epoch * escrow.lifetime};
  const Instant end = end_of(escrow);
  const ExactSpan after_both = full_after(end, escrow.leased(), quota);
  const ExactSpan after_current = full_after(end + escrow.lifetime, escrow.current, quota);
  return bucket_meter::expires_at(std::max(after_both, after_current));
}

}  // namespace penstock::core
