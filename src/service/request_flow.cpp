#include "service/request_flow.hpp"

#include "base/check.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

using Operation = StoreCall::Operation;

bool counts_denied(const rules::MatchedLimit& matched) noexcept {
  return matched.rule != nullptr && matched.rule->count_denied;
}

// Without a decision the store failed, and the policy of the limit is not the local fallback.
bool passes(const LimitAnswer& limit) {
  return limit.decision ? limit.decision->allowed()
                        : action_on_failure(limit.matched) == FailureAction::Allow;
}

// What charging `cost` leaves of a denied limit, on the safe side: the answer does not wait for it.
std::optional<Decision> after_charge(const Decision& before, Cost cost, Cost wanted) {
  const auto left = static_cast<std::uint32_t>(before.remaining() - cost.units);
  if (before.outcome() == Outcome::NeverFits || left >= wanted.units) return std::nullopt;
  const Duration until = std::max(before.reset_after(), before.retry_after().value_or(Duration{}));
  return Decision::deny(before.limit(), left, until, until);
}

}  // namespace

RequestFlow::RequestFlow(LocalFallback& local, const Clock& clock, Answer&& undecided)
    : local_(local), clock_(clock), answer_(std::move(undecided)) {
  answer_.clock = &clock;
  for (LimitAnswer& limit : answer_.limits) {
    const Role role = role_of(limit.matched);
    limit.shadow = role == Role::Shadow;
    if (!limit.matched.check.quota.is_none()) roles_ |= 1U << static_cast<unsigned>(role);
  }
}

std::optional<StoreCall> RequestFlow::next() {
  background_.clear();
  switch (state_) {
    case State::Start: return start();
    case State::Peeks: return on_peeked();
    case State::Enforced: return on_enforced();
    case State::Alternatives: return on_alternatives();
    case State::Shadows: return send_refunds();
    case State::Refunds: return on_refunded();
    case State::Done: break;
  }
  PENSTOCK_CHECK(false);
  return std::nullopt;
}

void RequestFlow::on_decisions(const StoreCall& call, std::span<const Decision> decisions) {
  const bool is_charge = call.operation == Operation::Check && !call.cost;
  auto decision = decisions.begin();
  visit_limits(call, [&](std::uint32_t index) {
    LimitAnswer& limit = answer_.limits[index];
    limit.decision = *decision++;
    if (is_charge) remember(local_, limit, changes_);
  });
}

void RequestFlow::on_failure(const StoreCall& call) {
  visit_limits(call, [&](std::uint32_t index) { failed_.push_back(index); });
}

RequestFlow::Next RequestFlow::start() {
  if (!is_decided_without_store()) return check_enforced();
  if (answer_.reason != Reason::OverLimit) return finish();
  const bool has_others =
      has_any(Role::Enforced) || has_any(Role::Alternative) || has_any(Role::Shadow);
  if (!has_others) return send_refunds();
  return wait_for(State::Peeks, {.limits = Limits::All, .cost = Cost{0}});
}

void RequestFlow::finish_without_store() {
  if (!is_decided_without_store()) decide_without_store();
  finish();
}

// By a list, because no limit applies, or by a limit of 0.
bool RequestFlow::is_decided_without_store() {
  if (decide_without_limits(answer_)) return true;
  if (!decide_zero_limits(answer_.limits, clock_)) return false;
  if (!is_denied_by_zero_limits(answer_.limits)) return false;
  deny();
  return true;
}

RequestFlow::Next RequestFlow::on_peeked() {
  if (failed_.empty()) {
    visit_limits({.limits = Limits::All}, [this](std::uint32_t index) {
      LimitAnswer& limit = answer_.limits[index];
      const core::NamedCheck& check = limit.matched.check;
      limit.decision = decision_from_peek(*limit.decision, check.quota, check.cost);
    });
    charge_denied(Role::Enforced);
  }
  return send_refunds();
}

RequestFlow::Next RequestFlow::check_enforced() {
  if (!has_any(Role::Enforced)) return check_alternatives();
  return wait_for(State::Enforced, {.limits = Limits::Enforced});
}

RequestFlow::Next RequestFlow::on_enforced() {
  if (!failed_.empty()) {
    decide_without_store();
    return finish();
  }
  const bool is_denied =
      std::any_of(answer_.limits.begin(), answer_.limits.end(), [](const LimitAnswer& limit) {
        return limit.decision && !limit.decision->allowed() &&
               role_of(limit.matched) == Role::Enforced;
      });
  if (!is_denied) return check_alternatives();
  deny();
  charge_denied(Role::Enforced);
  return send_refunds();
}

RequestFlow::Next RequestFlow::check_alternatives() {
  if (!has_any(Role::Alternative)) return check_shadows();
  return wait_for(State::Alternatives, {.limits = Limits::Alternatives});
}

RequestFlow::Next RequestFlow::on_alternatives() {
  decide_alternatives();
  if (answer_.allowed) return check_shadows();
  const StoreCall refund{.operation = Operation::Refund, .limits = Limits::EnforcedToRefund};
  if (!checks_of(refund).empty()) background_.push_back(refund);
  charge_denied(Role::Alternative);
  return send_refunds();
}

RequestFlow::Next RequestFlow::check_shadows() {
  if (!has_any(Role::Shadow)) return send_refunds();
  return wait_for(State::Shadows, {.limits = Limits::Shadows});
}

RequestFlow::Next RequestFlow::send_refunds() {
  if (!has_any(Role::Refund)) return finish();
  return wait_for(State::Refunds, {.operation = Operation::Refund, .limits = Limits::Refunds});
}

RequestFlow::Next RequestFlow::on_refunded() {
  if (failed_.size() == answer_.limits.size()) answer_.reason = Reason::FailedOpen;
  return finish();
}

RequestFlow::Next RequestFlow::finish() {
  state_ = State::Done;
  if (answer_.reason != Reason::FailedClosed) answer_.strictest = combine(answer_.limits).strictest;
  return std::nullopt;
}

RequestFlow::Next RequestFlow::wait_for(State state, const StoreCall& call) {
  state_ = state;
  failed_.clear();
  changes_ = local_.changes();
  return call;
}

void RequestFlow::decide_without_store() {
  apply_failure_policy();
  failed_.clear();
  on_failure({.limits = Limits::Alternatives});
  if (!answer_.allowed || failed_.empty()) return;
  const Reason of_enforced = answer_.reason;
  decide_alternatives();
  if (answer_.allowed) {
    answer_.reason = of_enforced;
    return;
  }
  std::vector<core::NamedCheck> charged;
  visit_limits({.limits = Limits::Enforced}, [&](std::uint32_t index) {
    if (answer_.limits[index].local) charged.push_back(check_of(index));
  });
  local_.undo(std::move(charged));
}

// Decides the enforced limits.
void RequestFlow::apply_failure_policy() {
  std::vector<std::uint32_t> enforced;
  std::vector<rules::OnFailure> policies;
  visit_limits({.limits = Limits::Enforced}, [&](std::uint32_t index) {
    enforced.push_back(index);
    policies.push_back(on_failure_of(answer_.limits[index].matched));
  });
  const FailurePlan plan = plan_for_failure(policies);
  answer_.reason = plan.reason;
  answer_.allowed = plan.reason != Reason::FailedClosed;
  std::vector<LimitAnswer*> local;
  std::vector<core::NamedCheck> checks;
  for (std::size_t i = 0; i < enforced.size(); ++i) {
    if (plan.limits[i] != FailureAction::DecideLocally) continue;
    local.push_back(&answer_.limits[enforced[i]]);
    checks.push_back(check_of(enforced[i]));
  }
  if (local.empty()) return;
  const std::vector<Decision> decisions = local_.check(std::move(checks));
  for (std::size_t i = 0; i < local.size(); ++i) {
    local[i]->decision = decisions[i];
    local[i]->local = true;
    answer_.allowed = answer_.allowed && decisions[i].allowed();
  }
}

void RequestFlow::decide_alternatives() {
  for (const std::uint32_t index : failed_) {
    LimitAnswer& limit = answer_.limits[index];
    if (action_on_failure(limit.matched) != FailureAction::DecideLocally) continue;
    limit.decision = local_.check({limit.matched.check}).front();
    limit.local = true;
  }
  const auto any = [&](auto holds) {
    return std::any_of(answer_.limits.begin(), answer_.limits.end(), [&](const LimitAnswer& limit) {
      return role_of(limit.matched) == Role::Alternative && holds(limit);
    });
  };
  const bool has_shadow =
      std::any_of(answer_.limits.begin(), answer_.limits.end(),
                  [](const LimitAnswer& limit) { return is_shadow_alternative(limit.matched); });
  answer_.allowed = has_shadow || any(passes);
  const auto agrees = [&](const LimitAnswer& limit) {
    return limit.decision && (has_shadow || limit.decision->allowed() == answer_.allowed);
  };
  if (any([&](const LimitAnswer& limit) { return agrees(limit) && !limit.local; })) {
    answer_.reason = answer_.allowed ? Reason::WithinLimits : Reason::OverLimit;
  } else if (any(agrees)) {
    answer_.reason = Reason::DecidedLocally;
  } else {
    answer_.reason = answer_.allowed ? Reason::FailedOpen : Reason::FailedClosed;
  }
}

void RequestFlow::deny() noexcept {
  answer_.allowed = false;
  answer_.reason = Reason::OverLimit;
}

void RequestFlow::charge_denied(Role role) {
  for (std::uint32_t i = 0; i < answer_.limits.size(); ++i) {
    LimitAnswer& limit = answer_.limits[i];
    const rules::MatchedLimit& matched = limit.matched;
    if (role_of(matched) != role || !counts_denied(matched) || limit.local) continue;
    if (!limit.decision || limit.decision->outcome() == Outcome::Blocked) continue;
    const Cost wanted = matched.check.cost;
    const Cost cost{std::min<std::uint64_t>(wanted.units, limit.decision->remaining())};
    if (cost.units == 0) continue;
    background_.push_back({.limit = i, .cost = cost});
    if (const auto after = after_charge(*limit.decision, cost, wanted)) limit.decision = after;
  }
}

bool RequestFlow::includes(Limits limits, const rules::MatchedLimit& matched) noexcept {
  if (matched.check.quota.is_none()) return false;
  const Role role = role_of(matched);
  switch (limits) {
    case Limits::One: return false;
    case Limits::Enforced: return role == Role::Enforced;
    case Limits::EnforcedToRefund: return role == Role::Enforced && !counts_denied(matched);
    case Limits::Alternatives: return role == Role::Alternative;
    case Limits::Shadows: return role == Role::Shadow;
    case Limits::All: return role != Role::Refund;
    case Limits::Refunds: return role == Role::Refund;
  }
  return false;
}

std::vector<core::NamedCheck> RequestFlow::checks_of(const StoreCall& call) const {
  std::vector<core::NamedCheck> checks;
  visit_limits(call, [&](std::uint32_t index) {
    checks.push_back(check_of(index));
    if (call.cost) checks.back().cost = *call.cost;
  });
  return checks;
}

}  // namespace penstock::service
