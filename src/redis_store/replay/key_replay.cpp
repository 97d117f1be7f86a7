#include "redis_store/replay/key_replay.hpp"

#include "core/lease.hpp"

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

}  // namespace penstock::redis_store
