#include "redis_store/strict_replay.hpp"

#include "redis_store/key_replay.hpp"

namespace penstock::redis_store {

StrictReplay::Answer StrictReplay::lease(const Ask& ask, Instant now) {
  core::AnyState state = bucket_.state;
  core::Escrow escrow = escrow_;
  Quota owner = bucket_.quota.value_or(ask.quota);
  // usage of a window becomes that of the bucket with the first lease; what does not fit grants
  // none
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
      answer.granted = core::lease_strictly(state, owner, escrow, ask.quota, ask.need, ask.want,
                                            ask.sharers, now);
    }
    answer.written = answer.granted > 0 || (answer.written && !was_window);
  }
  if (answer.granted > 0) answer.epoch = escrow.epoch;
  KeyContent after{.blocked_until = bucket_.blocked_until, .state = std::move(state)};
  if (!std::holds_alternative<std::monostate>(after.state)) after.quota = owner;
  const Cost looked_for{answer.granted > 0 ? 0 : ask.need};
  answer.afterwards = KeyReplay(after).preview(ask.quota, looked_for, now);
  if (answer.written) {
    bucket_ = std::move(after);
    escrow_ = escrow;
  }
  return answer;
}

}  // namespace penstock::redis_store
