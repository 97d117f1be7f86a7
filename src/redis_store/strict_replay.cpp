#include "redis_store/strict_replay.hpp"

#include "redis_store/key_replay.hpp"

namespace penstock::redis_store {

StrictReplay::Answer StrictReplay::lease(const Ask& ask, Instant now) {
  core::AnyState state = bucket_.state;
  core::Escrow escrow = escrow_;
  bool changed = !ask.reports.empty();
  if (bucket_.quota && !(*bucket_.quota == ask.quota)) {
    // refilled under the quota that it was written under, then carried over
    if (bucket_.quota->is_bucket()) {
      core::advance(state, escrow, *bucket_.quota, ask.lifetime, now);
    }
    state = core::carry_over(state, *bucket_.quota, ask.quota, now);
    changed = true;
  }
  changed = core::advance(state, escrow, ask.quota, ask.lifetime, now) || changed;
  for (const store::LeaseReport& report : ask.reports) {
    core::settle_report(state, escrow, ask.quota, report.epoch, report.spent, report.returned, now);
  }
  Answer answer;
  if (now >= bucket_.blocked_until) {
    answer.granted =
        core::lease_strictly(state, escrow, ask.quota, ask.need, ask.want, ask.sharers, now);
  }
  answer.epoch = escrow.epoch;
  KeyContent after{.blocked_until = bucket_.blocked_until, .state = std::move(state)};
  if (!std::holds_alternative<std::monostate>(after.state)) after.quota = ask.quota;
  const Cost looked_for{answer.granted > 0 ? 0 : ask.need};
  answer.afterwards = KeyReplay(after).preview(ask.quota, looked_for, now);
  answer.written = changed || answer.granted > 0;
  if (answer.written) {
    bucket_ = std::move(after);
    escrow_ = escrow;
  }
  return answer;
}

}  // namespace penstock::redis_store
