#include "redis_store/replay/key_replay.hpp"

#include "base/check.hpp"
#include "core/lease.hpp"
#include "core/strictest.hpp"

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

namespace {

// The cost that other checks of the request take from the same key before this one is decided:
// those before it, and those under another quota, since the total cost of the request must fit
// every quota.
Cost pending_at(std::span<const MultiCheckItem> checks, std::size_t index) {
  Cost pending{0};
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (i == index || checks[i].key != checks[index].key) continue;
    if (i > index && *checks[i].quota == *checks[index].quota) continue;
    pending = core::plus(pending, checks[i].cost);
  }
  return pending;
}

}  // namespace

bool decide_all(std::span<const MultiCheckItem> checks, std::span<Decision> decisions,
                Instant now) {
  PENSTOCK_CHECK(decisions.size() == checks.size());
  bool all_allowed = true;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const MultiCheckItem& check = checks[i];
    const Cost pending = pending_at(checks, i);
    // after the charges of other checks, a peek asks for one more
    const bool peeks_after_others = check.cost.units == 0 && pending.units > 0;
    const Cost asked = core::plus(peeks_after_others ? Cost{1} : check.cost, pending);
    decisions[i] = check.key->preview(*check.quota, asked, now);
    all_allowed = all_allowed && decisions[i].allowed();
  }
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const MultiCheckItem& check = checks[i];
    if (all_allowed) {
      decisions[i] = check.key->decide(*check.quota, check.cost, now);
    } else if (decisions[i].allowed()) {
      // denied by another limit: report the current numbers, not those after a charge
      decisions[i] = check.key->preview(*check.quota, Cost{0}, now);
    }
  }
  return all_allowed;
}

}  // namespace penstock::redis_store
