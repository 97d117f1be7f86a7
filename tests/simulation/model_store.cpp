#include "simulation/model_store.hpp"

#include <algorithm>

namespace penstock::simulation {
namespace {

using std::chrono::milliseconds;

// Refills up to `at` with `leased` units missing the whole time.
void clamp_at(core::AnyState& state, const Quota& quota, std::uint32_t leased, Instant at) {
  const ExactSpan full_at = core::bucket_meter::instant_after(
      at, quota.time_for(std::min(leased, quota.capacity())), quota);
  if (auto* bucket = std::get_if<core::TokenBucket::State>(&state)) {
    bucket->full_at = std::max(bucket->full_at, full_at);
    bucket->last = std::max(bucket->last, at);
  } else if (auto* gcra = std::get_if<core::Gcra::State>(&state)) {
    gcra->idle_at = std::max(gcra->idle_at, full_at);
  }
}

}  // namespace

Instant ModelStore::keep_until(Instant expires) const {
  const Duration time = expires.time_since_epoch() + keys_linger_;
  if (defect_ == Defect::FlooredTtl) return Instant{std::chrono::floor<milliseconds>(time)};
  return Instant{std::chrono::ceil<milliseconds>(time)};
}

void ModelStore::forget_expired(Instant now) {
  if (now >= stored_.state_expires) stored_.state = std::monostate{};
  if (now >= stored_.escrow_expires) stored_.escrow = {};
}

void ModelStore::keep() {
  stored_.state_expires = keep_until(core::expires_at(stored_.state, quota_));
  stored_.escrow_expires = keep_until(core::expires_at(stored_.escrow, quota_));
  if (defect_ == Defect::ShortEscrow && stored_.escrow.leased() > 0) {
    stored_.escrow_expires = Instant{(stored_.escrow.epoch + 1) * stored_.escrow.lifetime};
  }
}

Decision ModelStore::check(Cost cost, Instant now) {
  forget_expired(now);
  if (now < stored_.blocked_until) {
    return Decision::block(quota_.capacity(), stored_.blocked_until - now);
  }
  const Decision decision = core::decide(stored_.state, quota_, cost, now);
  keep();
  return decision;
}

Decision ModelStore::peek(Cost cost, Instant now) const {
  ModelStore copy = *this;
  copy.forget_expired(now);
  if (now < stored_.blocked_until) {
    return Decision::block(quota_.capacity(), stored_.blocked_until - now);
  }
  return core::evaluate(copy.stored_.state, quota_, cost, now);
}

void ModelStore::advance(const store::LeaseRequest& ask, Instant now) {
  core::Escrow& escrow = stored_.escrow;
  const Instant end{(escrow.epoch + 1) * escrow.lifetime};
  if (defect_ == Defect::UnclampedEpochs && escrow.leased() > 0 && end <= now) {
    clamp_at(stored_.state, quota_, escrow.current, end);
    escrow = {.epoch = escrow.epoch + 1,
              .current = 0,
              .previous = escrow.current,
              .lifetime = escrow.lifetime};
  }
  core::advance(stored_.state, stored_.escrow, quota_, *ask.strict_lifetime, now);
}

void ModelStore::apply_reports(const store::LeaseRequest& ask, Instant now) {
  const int times = defect_ == Defect::ReportsTwice ? 2 : 1;
  for (const store::LeaseReport& report : ask.reports) {
    const std::int64_t epoch =
        defect_ == Defect::UntaggedReports ? stored_.escrow.epoch : report.epoch;
    for (int i = 0; i < times; ++i) {
      core::settle_report(stored_.state, stored_.escrow, quota_, epoch, report.spent,
                          report.returned, now);
    }
  }
}

store::LeaseGrant ModelStore::lease(const store::LeaseRequest& ask, Instant now) {
  if (ask.strict_lifetime) audit_.before(stored_, ask, now);
  forget_expired(now);
  store::LeaseGrant grant;
  if (ask.strict_lifetime) {
    if (defect_ == Defect::ReportBeforeRefill) apply_reports(ask, now);
    advance(ask, now);
    if (defect_ != Defect::ReportBeforeRefill) apply_reports(ask, now);
  }
  const bool is_blocked = now < stored_.blocked_until;
  if (is_blocked) {
    grant.afterwards = Decision::block(quota_.capacity(), stored_.blocked_until - now);
  } else if (ask.strict_lifetime) {
    const core::StrictLeaseGrant strict =
        core::lease_strictly(stored_.state, stored_.escrow, quota_,
                             {.cost = ask.cost, .count = ask.count, .lease = ask.lease}, now);
    grant.admitted = strict.admitted;
    grant.granted = strict.granted;
  } else {
    grant.granted = core::take_up_to(stored_.state, quota_, ask.lease.need, ask.lease.want,
                                     ask.lease.sharers, now);
  }
  grant.epoch = stored_.escrow.epoch;
  grant.counts_for = core::counts_for(stored_.state, quota_, now);
  Cost looked_for{0};
  if (grant.admitted < ask.count) {
    looked_for.units = ask.cost;
  } else if (grant.granted == 0) {
    looked_for.units = ask.lease.need;
  }
  grant.denied_cost.units = std::max<std::uint64_t>(looked_for.units, 1);
  if (!is_blocked) grant.afterwards = core::evaluate(stored_.state, quota_, looked_for, now);
  const std::uint32_t used = grant.admitted * ask.cost + grant.granted;
  if (ask.strict_lifetime) audit_.after(stored_, used, now);
  keep();
  return grant;
}

void ModelStore::refund(Cost cost, Instant now) {
  forget_expired(now);
  core::refund(stored_.state, quota_, cost, now);
  audit_.excuse_next();
  keep();
}

void ModelStore::reset(Instant now) {
  const core::Escrow escrow = core::after_reset(stored_.escrow, now);
  take_over({.escrow = escrow, .escrow_expires = keep_until(core::expires_at(escrow, quota_))});
}

void ModelStore::take_over(const StoredState& stored) {
  stored_ = stored;
  audit_.excuse_next();
}

std::uint32_t ModelStore::leased(Duration lifetime, Instant now) const {
  StoredState copy = stored_;
  if (now >= copy.escrow_expires) return 0;
  core::advance(copy.state, copy.escrow, quota_, lifetime, now);
  return copy.escrow.leased();
}

std::optional<Instant> ModelStore::window_end(Instant now) const {
  const auto* window = std::get_if<core::FixedWindow::State>(&stored_.state);
  if (window == nullptr || window->count == 0 || window->end <= now) return std::nullopt;
  return window->end;
}

}  // namespace penstock::simulation
