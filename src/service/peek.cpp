#include "core/decide_all.hpp"
#include "service/decide.hpp"
#include "service/failure_policy.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

// All limits of the answer that the store decides, at no cost.
std::vector<core::NamedCheck> peeks_of(const Answer& answer) {
  std::vector<core::NamedCheck> peeks;
  for (const LimitAnswer& limit : answer.limits) {
    const core::NamedCheck& check = limit.matched.check;
    if (check.quota.is_none()) continue;
    peeks.push_back(
        {.name = check.name, .quota = check.quota, .cost = Cost{0}, .terms = check.terms});
  }
  return peeks;
}

// The cost that must fit this limit. Enforced limits are all or nothing: what the request takes
// from one key, under whichever quotas, must fit each of these quotas.
Cost asked_of(const LimitAnswer& limit, const std::vector<LimitAnswer>& limits) {
  const Role role = role_of(limit.matched);
  if (role == Role::Refund) return Cost{0};
  if (role != Role::Enforced) return limit.matched.check.cost;
  Cost sum{0};
  for (const LimitAnswer& other : limits) {
    if (role_of(other.matched) != Role::Enforced) continue;
    if (other.matched.check.name != limit.matched.check.name) continue;
    sum = core::plus(sum, other.matched.check.cost);
  }
  return sum;
}

// `decisions` are those of peeks_of().
void fill(Answer& answer, const std::vector<Decision>& decisions) {
  auto decision = decisions.begin();
  for (LimitAnswer& limit : answer.limits) {
    const core::NamedCheck& check = limit.matched.check;
    if (check.quota.is_none()) continue;
    limit.decision = decision_from_peek(*decision++, check.quota, asked_of(limit, answer.limits));
  }
}

void set_outcome(Answer& answer) {
  const CombinedDecision combined = combine(answer.limits);
  answer.allowed = combined.allowed;
  answer.strictest = combined.strictest;
  answer.reason = combined.allowed ? Reason::WithinLimits : Reason::OverLimit;
}

void set_outcome_without_store(const ServiceDeps& deps, Answer& answer) {
  if (is_denied_by_zero_limits(answer.limits)) return set_outcome(answer);
  const bool has_shadow_alternative =
      std::any_of(answer.limits.begin(), answer.limits.end(),
                  [](const LimitAnswer& limit) { return is_shadow_alternative(limit.matched); });
  std::vector<rules::OnFailure> policies;
  for (const LimitAnswer& limit : answer.limits) {
    const Role role = role_of(limit.matched);
    if (limit.matched.check.quota.is_none()) continue;
    if (role == Role::Enforced || (role == Role::Alternative && !has_shadow_alternative)) {
      policies.push_back(on_failure_of(limit.matched));
    }
  }
  const FailurePlan plan = plan_for_failure(policies);
  if (plan.reason == Reason::DecidedLocally) {
    for (LimitAnswer& limit : answer.limits) {
      if (limit.decision || limit.shadow) continue;  // a limit of 0 has a decision
      if (action_on_failure(limit.matched) != FailureAction::DecideLocally) continue;
      core::NamedCheck zero_cost = limit.matched.check;
      zero_cost.cost = Cost{0};
      const std::vector<Decision> said = deps.local.check({zero_cost});
      limit.decision = decision_from_peek(said.front(), deps.local.share_of(zero_cost.quota),
                                          asked_of(limit, answer.limits));
      limit.local = true;
    }
  }
  set_outcome(answer);
  answer.reason = plan.reason;
  if (plan.reason == Reason::FailedClosed) answer.allowed = false;
}

// Whether a request of cost 1 passes, from decisions for a cost of 0.
void set_outcome_of_one(Answer& answer) {
  std::vector<LimitAnswer> limits = answer.limits;
  for (LimitAnswer& limit : limits) {
    limit.decision = decision_from_peek(*limit.decision, limit.matched.check.quota, Cost{1});
  }
  const CombinedDecision combined = combine(limits);
  answer.allowed = combined.allowed;
  answer.strictest = combined.strictest;
  answer.reason = combined.allowed ? Reason::WithinLimits : Reason::OverLimit;
}

}  // namespace

void read_usage(const ServiceDeps& deps, Answer answer, base::Deadline deadline,
                std::function<void(const Result<Answer>&)> answered) {
  for (LimitAnswer& limit : answer.limits) {
    limit.shadow = role_of(limit.matched) == Role::Shadow;
    limit.matched.check.cost = Cost{0};
  }
  answer.clock = deps.clock;
  if (decide_without_limits(answer)) return answered(answer);
  decide_zero_limits(answer.limits, *deps.clock);
  std::vector<core::NamedCheck> peeks = peeks_of(answer);
  if (peeks.empty()) {
    set_outcome_of_one(answer);
    return answered(answer);
  }
  deps.stores.limits.check(std::move(peeks), deadline,
                           [kept = std::make_shared<Answer>(std::move(answer)),
                            answered = std::move(answered)](const Result<store::Decisions>& said) {
                             if (!said) return answered(said.error());
                             fill(*kept, *said);
                             set_outcome_of_one(*kept);
                             answered(std::move(*kept));
                           });
}

void peek(const ServiceDeps& deps, Answer answer, base::Deadline deadline,
          std::function<void(Answer)> answered) {
  for (LimitAnswer& limit : answer.limits) limit.shadow = role_of(limit.matched) == Role::Shadow;
  answer.clock = deps.clock;
  if (decide_without_limits(answer)) return answered(std::move(answer));
  decide_zero_limits(answer.limits, *deps.clock);
  std::vector<core::NamedCheck> peeks = peeks_of(answer);
  if (peeks.empty()) {
    set_outcome(answer);
    return answered(std::move(answer));
  }
  const auto kept = std::make_shared<Answer>(std::move(answer));
  deps.stores.limits.check(
      std::move(peeks), deadline,
      [kept, deps, answered = std::move(answered)](const Result<store::Decisions>& said) {
        if (said) {
          fill(*kept, *said);
          set_outcome(*kept);
        } else {
          set_outcome_without_store(deps, *kept);
        }
        answered(std::move(*kept));
      });
}

}  // namespace penstock::service
