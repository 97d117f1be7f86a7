#include "simulation/model_store.hpp"

#include <algorithm>

namespace penstock::simulation {
namespace {

using std::chrono::milliseconds;

// Refills up to `at` as if so much had been leased all the time, and not a token more.
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
  if (now >= kept_.state_goes) kept_.state = std::monostate{};
  if (now >= kept_.escrow_goes) kept_.escrow = {};
}

void ModelStore::keep() {
  kept_.state_goes = keep_until(core::expires_at(kept_.state, quota_));
  kept_.escrow_goes = keep_until(core::expires_at(kept_.escrow, quota_));
  if (defect_ == Defect::ShortEscrow && kept_.escrow.leased() > 0) {
    kept_.escrow_goes = Instant{(kept_.escrow.epoch + 1) * kept_.escrow.lifetime};
  }
}

Decision ModelStore::check(Cost cost, Instant now) {
  forget_expired(now);
  if (now < kept_.blocked_until) {
    return Decision::block(quota_.capacity(), kept_.blocked_until - now);
  }
  const Decision decision = core::decide(kept_.state, quota_, cost, now);
  keep();
  return decision;
}

Decision ModelStore::peek(Cost cost, Instant now) const {
  ModelStore copy = *this;
  copy.forget_expired(now);
  if (now < kept_.blocked_until) {
    return Decision::block(quota_.capacity(), kept_.blocked_until - now);
  }
  return core::evaluate(copy.kept_.state, quota_, cost, now);
}

void ModelStore::advance(const store::LeaseAsk& ask, Instant now) {
  core::Escrow& escrow = kept_.escrow;
  const Instant end{(escrow.epoch + 1) * escrow.lifetime};
  if (defect_ == Defect::UnclampedEpochs && escrow.leased() > 0 && end <= now) {
    clamp_at(kept_.state, quota_, escrow.current, end);
    escrow = {.epoch = escrow.epoch + 1,
              .current = 0,
              .previous = escrow.current,
              .lifetime = escrow.lifetime};
  }
  core::advance(kept_.state, kept_.escrow, quota_, *ask.strict_lifetime, now);
}

void ModelStore::hear_reports(const store::LeaseAsk& ask, Instant now) {
  const int times = defect_ == Defect::ReportsTwice ? 2 : 1;
  for (const store::LeaseReport& report : ask.reports) {
    const std::int64_t epoch =
        defect_ == Defect::UntaggedReports ? kept_.escrow.epoch : report.epoch;
    for (int i = 0; i < times; ++i) {
      core::settle_report(kept_.state, kept_.escrow, quota_, epoch, report.spent, report.returned,
                          now);
    }
  }
}

store::LeaseGrant ModelStore::lease(const store::LeaseAsk& ask, Instant now) {
  if (ask.strict_lifetime) audit_.before(kept_, ask, now);
  forget_expired(now);
  store::LeaseGrant grant;
  if (ask.strict_lifetime) {
    if (defect_ == Defect::ReportBeforeRefill) hear_reports(ask, now);
    advance(ask, now);
    if (defect_ != Defect::ReportBeforeRefill) hear_reports(ask, now);
  }
  const bool is_blocked = now < kept_.blocked_until;
  if (is_blocked) {
    grant.afterwards = Decision::block(quota_.capacity(), kept_.blocked_until - now);
  } else if (ask.strict_lifetime) {
    const core::StrictGrant strict =
        core::lease_strictly(kept_.state, kept_.escrow, quota_,
                             {.cost = ask.cost, .count = ask.count, .lease = ask.lease}, now);
    grant.admitted = strict.admitted;
    grant.granted = strict.granted;
  } else {
    grant.granted = core::take_up_to(kept_.state, quota_, ask.lease.need, ask.lease.want,
                                     ask.lease.sharers, now);
  }
  grant.epoch = kept_.escrow.epoch;
  grant.counts_for = core::counts_for(kept_.state, quota_, now);
  Cost looked_for{0};
  if (grant.admitted < ask.count) {
    looked_for.units = ask.cost;
  } else if (grant.granted == 0) {
    looked_for.units = ask.lease.need;
  }
  grant.denied_cost.units = std::max<std::uint64_t>(looked_for.units, 1);
  if (!is_blocked) grant.afterwards = core::evaluate(kept_.state, quota_, looked_for, now);
  const std::uint32_t used = grant.admitted * ask.cost + grant.granted;
  if (ask.strict_lifetime) audit_.after(kept_, used, now);
  keep();
  return grant;
}

void ModelStore::refund(Cost cost, Instant now) {
  forget_expired(now);
  core::refund(kept_.state, quota_, cost, now);
  audit_.excuse_next();
  keep();
}

void ModelStore::reset(Instant now) {
  const core::Escrow escrow = core::after_reset(kept_.escrow, now);
  take_over({.escrow = escrow, .escrow_goes = keep_until(core::expires_at(escrow, quota_))});
}

void ModelStore::take_over(const Kept& kept) {
  kept_ = kept;
  audit_.excuse_next();
}

std::uint32_t ModelStore::leased(Duration lifetime, Instant now) const {
  Kept copy = kept_;
  if (now >= copy.escrow_goes) return 0;
  core::advance(copy.state, copy.escrow, quota_, lifetime, now);
  return copy.escrow.leased();
}

std::optional<Instant> ModelStore::window_end(Instant now) const {
  const auto* window = std::get_if<core::FixedWindow::State>(&kept_.state);
  if (window == nullptr || window->count == 0 || window->end <= now) return std::nullopt;
  return window->end;
}

}  // namespace penstock::simulation
