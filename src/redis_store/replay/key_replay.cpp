#include "redis_store/replay/key_replay.hpp"

#include <algorithm>

namespace penstock::redis_store {

Decision KeyReplay::decide(const Quota& quota, Cost cost, Instant now) {
  if (is_blocked(now)) {
    return Decision::block(quota.capacity(), content_.blocked_until - now);
  }
  Quota owner = content_.quota.value_or(quota);
  const Decision decision = core::decide_under(content_.state, owner, quota, cost, now);
  if (!std::holds_alternative<std::monostate>(content_.state)) content_.quota = owner;
  return decision;
}

std::uint32_t KeyReplay::take_up_to(const Quota& quota, std::uint32_t need, std::uint32_t want,
                                    std::uint32_t sharers, Instant now) {
  if (is_blocked(now)) return 0;
  Quota owner = content_.quota.value_or(quota);
  const std::uint32_t taken =
      core::take_up_to(content_.state, owner, quota, need, want, sharers, now);
  if (!std::holds_alternative<std::monostate>(content_.state)) content_.quota = owner;
  return taken;
}

Decision KeyReplay::preview(const Quota& quota, Cost cost, Instant now) const {
  if (is_blocked(now)) {
    return Decision::block(quota.capacity(), content_.blocked_until - now);
  }
  return core::evaluate_under(content_.state, content_.quota.value_or(quota), quota, cost, now);
}

Duration KeyReplay::counts_for(const Quota& quota, Instant now) const {
  return core::counts_for(content_.state, content_.quota.value_or(quota), now);
}

void KeyReplay::refund(Cost cost, Instant now) {
  if (!content_.quota || cost.units == 0) return;
  core::refund(content_.state, *content_.quota, cost, now);
}

bool KeyReplay::is_used(Instant now) const {
  return content_.quota && core::used(content_.state, *content_.quota, now) > 0;
}

StrictReplay::Answer StrictReplay::lease(const Ask& ask, Instant now) {
  core::AnyState state = bucket_.state;
  core::Escrow escrow = escrow_;
  Quota owner = bucket_.quota.value_or(ask.quota);
  // usage of a window becomes that of the bucket with the first lease; usage that does not fit
  // prevents a grant
  const bool was_window = bucket_.quota && !owner.is_bucket();
  Answer answer;
  if (!was_window || core::used(state, owner, now) <= ask.quota.capacity()) {
    if (was_window) {
      state = core::convert(state, owner, ask.quota, now);
      owner = ask.quota;
    }
    answer.written = core::advance(state, escrow, owner, ask.lifetime, now) || !ask.reports.empty();
    for (const store::LeaseReport& report : ask.reports) {
      core::settle_report(state, escrow, owner, report.epoch, report.spent, report.returned, now);
    }
    if (now >= bucket_.blocked_until) {
      answer.grant = core::lease_strictly(state, owner, escrow, ask.quota, ask.amounts, now);
    }
    const bool is_charged = answer.grant.admitted > 0 || answer.grant.granted > 0;
    answer.written = is_charged || (answer.written && !was_window);
  }
  if (answer.grant.granted > 0) answer.epoch = escrow.epoch;
  KeyContent after{.blocked_until = bucket_.blocked_until, .state = std::move(state)};
  if (!std::holds_alternative<std::monostate>(after.state)) after.quota = owner;
  Cost looked_for{0};
  if (answer.grant.admitted < ask.amounts.count) {
    looked_for.units = ask.amounts.cost;
  } else if (answer.grant.granted == 0) {
    looked_for.units = ask.amounts.lease.need;
  }
  answer.afterwards = KeyReplay(after).preview(ask.quota, looked_for, now);
  answer.denied_cost.units = std::max<std::uint64_t>(looked_for.units, 1);
  if (answer.written) {
    bucket_ = std::move(after);
    // an escrow without information is not kept
    escrow_ = core::expires_at(escrow, owner) <= now ? core::Escrow{} : escrow;
  }
  return answer;
}

void StrictReplay::reset(Instant now) {
  bucket_ = {};
  escrow_ = core::after_reset(escrow_, now);
}

}  // namespace penstock::redis_store
