#include "service/request_flow.hpp"

#include "service/failure_policy.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {

namespace {

bool counts_denied(const rules::MatchedLimit& matched) {
  return matched.rule != nullptr && matched.rule->count_denied;
}

}  // namespace

void RequestFlow::start(const ServiceDeps& deps, Answer answer, std::string domain,
                        base::Deadline deadline, Answered answered, Reporting reporting) {
  std::unique_ptr<RequestFlow> flow(new RequestFlow(deps, std::move(answer), std::move(domain),
                                                    deadline, std::move(answered), reporting));
  flow.release()->check_enforced();  // finish() takes it back
}

void RequestFlow::start_without_store(const ServiceDeps& deps, Answer answer, std::string domain,
                                      Answered answered, Reporting reporting) {
  std::unique_ptr<RequestFlow> flow(new RequestFlow(deps, std::move(answer), std::move(domain),
                                                    base::Deadline{}, std::move(answered),
                                                    reporting));
  const bool is_decided = decide_without_limits(flow->answer_) || flow->decide_zero_limits();
  RequestFlow& running = *flow.release();
  is_decided ? running.finish() : running.decide_without_store();
}

RequestFlow::RequestFlow(const ServiceDeps& deps, Answer answer, std::string domain,
                         base::Deadline deadline, Answered answered, Reporting reporting)
    : deps_(deps),
      answer_(std::move(answer)),
      domain_(std::move(domain)),
      deadline_(deps.within(deadline)),
      answered_(std::move(answered)),
      reporting_(reporting) {
  for (LimitAnswer& limit : answer_.limits) limit.shadow = role_of(limit.matched) == Role::Shadow;
}

void RequestFlow::check_enforced() {
  if (decide_without_limits(answer_)) return finish();
  if (decide_zero_limits()) return peek_others();
  if (enforced_.empty()) return check_alternatives();
  const base::Deadline since = base::monotonic_now();
  changes_ = deps_.local.changes();
  deps_.stores.limits.check(checks_of(enforced_), deadline_,
                            [this, since](const Result<store::Decisions>& said) {
                              record_store_call(since, said ? nullptr : &said.error());
                              on_enforced(said);
                            });
}

bool RequestFlow::decide_zero_limits() {
  const bool has_some = service::decide_zero_limits(answer_.limits, *deps_.clock);
  enforced_ = indices_of(Role::Enforced);
  if (!has_some || !is_denied_by_zero_limits(answer_.limits)) return false;
  answer_.allowed = false;
  answer_.reason = Reason::OverLimit;
  return true;
}

void RequestFlow::peek_others() {
  LimitIndices others;
  for (const Role role : {Role::Enforced, Role::Alternative, Role::Shadow}) {
    const LimitIndices more = indices_of(role);
    others.insert(others.end(), more.begin(), more.end());
  }
  if (others.empty()) return send_refunds();
  std::vector<core::NamedCheck> peeks = checks_of(others);
  for (core::NamedCheck& peek : peeks) peek.cost = Cost{0};
  deps_.stores.limits.check(
      std::move(peeks), deadline_,
      [this, others, since = base::monotonic_now()](const Result<store::Decisions>& said) {
        record_store_call(since, said ? nullptr : &said.error());
        if (said) {
          note(others, *said);
          for (const std::size_t index : others) {
            LimitAnswer& limit = answer_.limits[index];
            const core::NamedCheck& check = limit.matched.check;
            limit.decision = decision_from_peek(*limit.decision, check.quota, check.cost);
          }
          charge_denied(Role::Enforced);
        }
        send_refunds();
      });
}

void RequestFlow::on_enforced(const Result<store::Decisions>& said) {
  if (!said) return decide_without_store();
  note(enforced_, *said);
  for (const std::size_t index : enforced_) {
    remember(deps_.local, answer_.limits[index], changes_);
  }
  const bool is_denied = std::any_of(enforced_.begin(), enforced_.end(), [&](std::size_t index) {
    return !answer_.limits[index].decision->allowed();
  });
  if (!is_denied) return check_alternatives();
  answer_.allowed = false;
  answer_.reason = Reason::OverLimit;
  charge_denied(Role::Enforced);
  send_refunds();
}

// The store is not called again: the failure policy decides all limits.
void RequestFlow::decide_without_store() {
  apply_failure_policy(enforced_);
  failed_ = indices_of(Role::Alternative);
  if (!answer_.allowed || failed_.empty()) return finish();
  const Reason of_enforced = answer_.reason;
  decide_alternatives();
  if (answer_.allowed) {
    answer_.reason = of_enforced;
  } else {
    LimitIndices taken = enforced_;
    std::erase_if(taken, [this](std::size_t index) { return !answer_.limits[index].local; });
    deps_.local.undo(checks_of(taken));
  }
  finish();
}

void RequestFlow::check_alternatives() {
  const LimitIndices alternatives = indices_of(Role::Alternative);
  if (alternatives.empty()) return check_shadows();
  check_each(alternatives, &RequestFlow::on_alternatives);
}

void RequestFlow::on_alternatives() {
  decide_alternatives();
  if (answer_.allowed) return check_shadows();
  refund_enforced();
  charge_denied(Role::Alternative);
  send_refunds();
}

void RequestFlow::decide_alternatives() {
  for (const std::size_t index : failed_) decide_locally(index);
  const auto any = [&](auto holds) {
    return std::any_of(answer_.limits.begin(), answer_.limits.end(), [&](const LimitAnswer& limit) {
      return role_of(limit.matched) == Role::Alternative && holds(limit);
    });
  };
  const bool has_shadow =
      std::any_of(answer_.limits.begin(), answer_.limits.end(),
                  [](const LimitAnswer& limit) { return is_shadow_alternative(limit.matched); });
  // without a decision the store failed, and the rule is open or closed
  answer_.allowed = has_shadow || any([](const LimitAnswer& limit) {
                      return limit.decision
                                 ? limit.decision->allowed()
                                 : on_failure_of(limit.matched) == rules::OnFailure::Open;
                    });
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

void RequestFlow::decide_locally(std::size_t index) {
  LimitAnswer& limit = answer_.limits[index];
  const rules::OnFailure on_failure = on_failure_of(limit.matched);
  if (plan_for_failure({&on_failure, 1}).limits.front() != FailureAction::DecideLocally) return;
  limit.decision = deps_.local.check({limit.matched.check}).front();
  limit.local = true;
}

void RequestFlow::check_shadows() {
  const LimitIndices shadows = indices_of(Role::Shadow);
  if (shadows.empty()) return send_refunds();
  check_each(shadows, &RequestFlow::send_refunds);
}

void RequestFlow::send_refunds() {
  const LimitIndices indices = indices_of(Role::Refund);
  if (indices.empty()) return finish();
  const base::Deadline since = base::monotonic_now();
  deps_.stores.limits.refund(checks_of(indices), deadline_,
                             [this, since](const Result<store::Decisions>& said) {
                               record_store_call(since, said ? nullptr : &said.error());
                               const LimitIndices refunded = indices_of(Role::Refund);
                               if (said) {
                                 note(refunded, *said);
                               } else if (refunded.size() == answer_.limits.size()) {
                                 answer_.reason = Reason::FailedOpen;
                               }
                               finish();
                             });
}

void RequestFlow::finish() {
  const std::unique_ptr<RequestFlow> self(this);
  if (answer_.reason != Reason::FailedClosed) {
    answer_.strictest = combine(answer_.limits).strictest;
  }
  if (reporting_ == Reporting::Flow) deps_.events.on_answer(domain_, answer_);
  answered_(std::move(answer_));
}

void RequestFlow::apply_failure_policy(const LimitIndices& indices) {
  std::vector<rules::OnFailure> policies;
  for (const std::size_t index : indices) {
    policies.push_back(on_failure_of(answer_.limits[index].matched));
  }
  const FailurePlan plan = plan_for_failure(policies);
  answer_.reason = plan.reason;
  answer_.allowed = plan.reason != Reason::FailedClosed;
  LimitIndices local;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (plan.limits[i] == FailureAction::DecideLocally) local.push_back(indices[i]);
  }
  if (local.empty()) return;
  note(local, deps_.local.check(checks_of(local)));
  for (const std::size_t index : local) {
    answer_.limits[index].local = true;
    answer_.allowed = answer_.allowed && answer_.limits[index].decision->allowed();
  }
}

void RequestFlow::charge_denied(Role role) {
  for (LimitAnswer& limit : answer_.limits) {
    const rules::MatchedLimit& matched = limit.matched;
    if (role_of(matched) != role || !counts_denied(matched) || limit.local) continue;
    if (!limit.decision || limit.decision->outcome() == Outcome::Blocked) continue;
    core::NamedCheck check = matched.check;
    check.cost.units = std::min<std::uint64_t>(check.cost.units, limit.decision->remaining());
    if (check.cost.units == 0) continue;
    // the state after this charge, on the safe side: the answer does not wait for it
    const Decision& before = *limit.decision;
    const auto left = static_cast<std::uint32_t>(before.remaining() - check.cost.units);
    const Duration until =
        std::max(before.reset_after(), before.retry_after().value_or(Duration{}));
    if (before.outcome() != Outcome::NeverFits && left < matched.check.cost.units) {
      limit.decision = Decision::deny(before.limit(), left, until, until);
    }
    deps_.stores.limits.check({std::move(check)}, background_deadline(), ignore_result());
  }
}

void RequestFlow::refund_enforced() {
  LimitIndices indices = enforced_;
  std::erase_if(indices, [&](std::size_t index) {
    return !answer_.limits[index].decision || counts_denied(answer_.limits[index].matched);
  });
  if (indices.empty()) return;
  deps_.stores.limits.refund(checks_of(indices), background_deadline(), ignore_result());
}

store::Answered<store::Decisions> RequestFlow::ignore_result() const {
  return [events = &deps_.events,
          since = base::monotonic_now()](const Result<store::Decisions>& said) {
    events->on_store_call(base::monotonic_now() - since, said ? nullptr : &said.error());
  };
}

base::Deadline RequestFlow::background_deadline() const {
  return deps_.within(base::Deadline::max());
}

void RequestFlow::check_each(const LimitIndices& indices, Next next) {
  next_ = next;
  failed_.clear();
  changes_ = deps_.local.changes();
  pending_ = indices.size() + 1;  // one for this loop: answers may come before it ends
  for (const std::size_t index : indices) {
    deps_.stores.limits.check(
        {answer_.limits[index].matched.check}, deadline_,
        [this, index, since = base::monotonic_now()](const Result<store::Decisions>& said) {
          record_store_call(since, said ? nullptr : &said.error());
          if (said) {
            answer_.limits[index].decision = said->front();
            remember(deps_.local, answer_.limits[index], changes_);
          } else {
            failed_.push_back(index);
          }
          finish_one();
        });
  }
  finish_one();
}

void RequestFlow::finish_one() {
  if (--pending_ == 0) (this->*next_)();
}

RequestFlow::LimitIndices RequestFlow::indices_of(Role role) const {
  LimitIndices indices;
  for (std::size_t i = 0; i < answer_.limits.size(); ++i) {
    const rules::MatchedLimit& matched = answer_.limits[i].matched;
    if (role_of(matched) == role && !matched.check.quota.is_none()) indices.push_back(i);
  }
  return indices;
}

std::vector<core::NamedCheck> RequestFlow::checks_of(const LimitIndices& indices) const {
  std::vector<core::NamedCheck> checks;
  checks.reserve(indices.size());
  for (const std::size_t index : indices) checks.push_back(answer_.limits[index].matched.check);
  return checks;
}

void RequestFlow::note(const LimitIndices& indices, const store::Decisions& decisions) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    answer_.limits[indices[i]].decision = decisions[i];
  }
}

void RequestFlow::record_store_call(base::Deadline since, const Error* failure) const {
  deps_.events.on_store_call(base::monotonic_now() - since, failure);
}

}  // namespace penstock::service
