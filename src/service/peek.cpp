#include "service/peek.hpp"

#include "core/strictest.hpp"
#include "service/failure_policy.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

// All limits of the answer, each key once under each quota, at no cost.
std::vector<core::NamedCheck> looks_at(const Answer& answer) {
  std::vector<core::NamedCheck> looks;
  for (const LimitAnswer& limit : answer.limits) {
    const core::NamedCheck& check = limit.applied.check;
    if (check.quota.is_none()) continue;
    const bool is_known = std::any_of(looks.begin(), looks.end(), [&](const auto& earlier) {
      return earlier.quota == check.quota && earlier.name == check.name;
    });
    if (!is_known) looks.push_back({.name = check.name, .quota = check.quota, .cost = Cost{0}});
  }
  return looks;
}

// What must fit this limit. Enforced limits are checked together: what the request takes from one
// key, under whichever quotas, must fit each of these quotas.
Cost asked_of(const LimitAnswer& limit, const std::vector<LimitAnswer>& limits) {
  const Role role = role_of(limit.applied);
  if (role == Role::GivesBack) return Cost{0};
  if (role != Role::Enforced) return limit.applied.check.cost;
  Cost sum{0};
  for (const LimitAnswer& other : limits) {
    if (role_of(other.applied) != Role::Enforced) continue;
    if (other.applied.check.name != limit.applied.check.name) continue;
    sum = core::plus(sum, other.applied.check.cost);
  }
  return sum;
}

void fill(Answer& answer, const std::vector<core::NamedCheck>& looks,
          const std::vector<Decision>& decisions) {
  for (LimitAnswer& limit : answer.limits) {
    const core::NamedCheck& check = limit.applied.check;
    for (std::size_t i = 0; i < looks.size(); ++i) {
      if (looks[i].name != check.name || !(looks[i].quota == check.quota)) continue;
      limit.decision = would_say(decisions[i], check.quota, asked_of(limit, answer.limits));
    }
  }
}

void conclude(Answer& answer) {
  const Verdict verdict = combine(answer.limits);
  answer.allowed = verdict.allowed;
  answer.strictest = verdict.strictest;
  answer.reason = verdict.allowed ? Reason::WithinLimits : Reason::OverLimit;
}

void conclude_without_store(const Colleagues& colleagues, Answer& answer) {
  if (is_denied_by_zero_limits(answer.limits)) return conclude(answer);
  const bool has_shadow_alternative =
      std::any_of(answer.limits.begin(), answer.limits.end(),
                  [](const LimitAnswer& limit) { return is_shadow_alternative(limit.applied); });
  std::vector<rules::OnFailure> policies;
  for (const LimitAnswer& limit : answer.limits) {
    const Role role = role_of(limit.applied);
    if (limit.applied.check.quota.is_none()) continue;
    if (role == Role::Enforced || (role == Role::Alternative && !has_shadow_alternative)) {
      policies.push_back(on_failure_of(limit.applied));
    }
  }
  const FailurePlan plan = plan_for_failure(policies);
  if (plan.reason == Reason::DecidedLocally) {
    for (LimitAnswer& limit : answer.limits) {
      if (on_failure_of(limit.applied) != rules::OnFailure::Local || limit.shadow) continue;
      if (limit.decision) continue;  // a limit of 0
      core::NamedCheck look = limit.applied.check;
      look.cost = Cost{0};
      const std::vector<Decision> said = colleagues.local.check({look});
      limit.decision = would_say(said.front(), colleagues.local.share_of(look.quota),
                                 asked_of(limit, answer.limits));
      limit.local = true;
    }
  }
  conclude(answer);
  answer.reason = plan.reason;
  if (plan.reason == Reason::FailedClosed) answer.allowed = false;
}

}  // namespace

void peek(const Colleagues& colleagues, Answer answer, base::Deadline deadline,
          std::function<void(Answer)> answered) {
  for (LimitAnswer& limit : answer.limits) limit.shadow = role_of(limit.applied) == Role::Shadow;
  if (settle_without_limits(answer)) return answered(std::move(answer));
  settle_zero_limits(answer.limits, *colleagues.clock);
  std::vector<core::NamedCheck> looks = looks_at(answer);
  if (looks.empty()) {
    conclude(answer);
    return answered(std::move(answer));
  }
  const auto kept = std::make_shared<Answer>(std::move(answer));
  colleagues.store.check(looks, deadline,
                         [kept, looks, colleagues, answered = std::move(answered)](
                             const Result<store::Store::Decisions>& said) {
                           if (said) {
                             fill(*kept, looks, *said);
                             conclude(*kept);
                           } else {
                             conclude_without_store(colleagues, *kept);
                           }
                           answered(std::move(*kept));
                         });
}

}  // namespace penstock::service
