#include "redis_store/key_replay.hpp"

#include "base/check.hpp"
#include "core/lease.hpp"
#include "core/strictest.hpp"

namespace penstock::redis_store {

core::AnyState KeyReplay::state_under(const Quota& quota, Instant now) const {
  if (!content_.quota || *content_.quota == quota) return content_.state;
  return core::carry_over(content_.state, *content_.quota, quota, now);
}

Decision KeyReplay::decide(const Quota& quota, Cost cost, Instant now) {
  if (is_blocked(now)) {
    return Decision::block(quota.capacity(), content_.blocked_until - now);
  }
  if (content_.quota && !(*content_.quota == quota)) {
    core::AnyState state = state_under(quota, now);
    const Decision decision = core::decide(state, quota, cost, now);
    if (cost.units > 0) {
      content_.state = std::move(state);
      content_.quota = quota;
    }
    return decision;
  }
  const Decision decision = core::decide(content_.state, quota, cost, now);
  if (!std::holds_alternative<std::monostate>(content_.state)) content_.quota = quota;
  return decision;
}

std::uint32_t KeyReplay::take_up_to(const Quota& quota, std::uint32_t need, std::uint32_t want,
                                    std::uint32_t sharers, Instant now) {
  if (is_blocked(now)) return 0;
  core::AnyState state = state_under(quota, now);
  const std::uint32_t taken = core::take_up_to(state, quota, need, want, sharers, now);
  const bool is_other_quota = content_.quota && !(*content_.quota == quota);
  if (is_other_quota && taken == 0 && need == 0) return 0;  // a look, which changes no quota
  content_.state = std::move(state);
  if (!std::holds_alternative<std::monostate>(content_.state)) content_.quota = quota;
  return taken;
}

Decision KeyReplay::preview(const Quota& quota, Cost cost, Instant now) const {
  if (is_blocked(now)) {
    return Decision::block(quota.capacity(), content_.blocked_until - now);
  }
  return core::evaluate(state_under(quota, now), quota, cost, now);
}

Duration KeyReplay::counts_for(const Quota& quota, Instant now) const {
  return core::counts_for(state_under(quota, now), quota, now);
}

void KeyReplay::adopt(const Quota& quota, Instant now) {
  if (!content_.quota || *content_.quota == quota) return;
  content_.state = state_under(quota, now);
  content_.quota = quota;
}

void KeyReplay::refund(const Quota& quota, Cost cost, Instant now) {
  if (!content_.quota || cost.units == 0) return;
  adopt(quota, now);
  core::refund(content_.state, quota, cost, now);
}

bool KeyReplay::is_used(Instant now) const {
  return content_.quota && core::used(content_.state, *content_.quota, now) > 0;
}

namespace {

// What earlier checks of the request take from the same key.
Cost pending_at(std::span<const TogetherCheck> checks, std::size_t index) {
  Cost pending{0};
  for (std::size_t i = 0; i < index; ++i) {
    if (checks[i].key == checks[index].key) pending = core::plus(pending, checks[i].cost);
  }
  return pending;
}

}  // namespace

bool decide_together(std::span<const TogetherCheck> checks, std::span<Decision> decisions,
                     Instant now) {
  PENSTOCK_CHECK(decisions.size() == checks.size());
  bool all_allowed = true;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const TogetherCheck& check = checks[i];
    const Cost pending = pending_at(checks, i);
    // after what others take, a look asks for one more
    const bool looks_after_others = check.cost.units == 0 && pending.units > 0;
    const Cost asked = core::plus(looks_after_others ? Cost{1} : check.cost, pending);
    decisions[i] = check.key->preview(*check.quota, asked, now);
    all_allowed = all_allowed && decisions[i].allowed();
  }
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const TogetherCheck& check = checks[i];
    if (all_allowed) {
      decisions[i] = check.key->decide(*check.quota, check.cost, now);
    } else if (decisions[i].allowed()) {
      // refused by another limit: show what this one has, not what it would have had
      decisions[i] = check.key->preview(*check.quota, Cost{0}, now);
    } else if (check.cost.units > 0 && decisions[i].outcome() != Outcome::Blocked) {
      check.key->adopt(*check.quota, now);
    }
  }
  return all_allowed;
}

}  // namespace penstock::redis_store
