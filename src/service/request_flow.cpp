#include "service/request_flow.hpp"

#include "core/strictest.hpp"
#include "service/failure_policy.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {

using store::Store;

namespace {

bool counts_denied(const rules::Applied& applied) {
  return applied.rule != nullptr && applied.rule->count_denied;
}

}  // namespace

void RequestFlow::start(const Colleagues& colleagues, Answer answer, std::string domain,
                        base::Deadline deadline, Answered answered, Reporting reporting) {
  std::unique_ptr<RequestFlow> flow(new RequestFlow(
      colleagues, std::move(answer), std::move(domain), deadline, std::move(answered), reporting));
  flow.release()->ask_enforced();  // finish() takes it back
}

void RequestFlow::start_without_store(const Colleagues& colleagues, Answer answer,
                                      std::string domain, Answered answered, Reporting reporting) {
  std::unique_ptr<RequestFlow> flow(new RequestFlow(colleagues, std::move(answer),
                                                    std::move(domain), base::Deadline{},
                                                    std::move(answered), reporting));
  const bool is_settled = settle_without_limits(flow->answer_) || flow->settle_zero_limits();
  RequestFlow& running = *flow.release();
  is_settled ? running.finish() : running.without_store();
}

RequestFlow::RequestFlow(const Colleagues& colleagues, Answer answer, std::string domain,
                         base::Deadline deadline, Answered answered, Reporting reporting)
    : colleagues_(colleagues),
      answer_(std::move(answer)),
      domain_(std::move(domain)),
      deadline_(colleagues.within(deadline)),
      answered_(std::move(answered)),
      reporting_(reporting) {
  for (LimitAnswer& limit : answer_.limits) limit.shadow = role_of(limit.applied) == Role::Shadow;
}

void RequestFlow::ask_enforced() {
  if (settle_without_limits(answer_)) return finish();
  if (settle_zero_limits()) return peek_at_others();
  if (enforced_.empty()) return ask_alternatives();
  const base::Deadline since = base::monotonic_now();
  changes_ = colleagues_.local.changes();
  colleagues_.store.check(checks_of(enforced_), deadline_,
                          [this, since](const Result<Store::Decisions>& said) {
                            hear_store(since, said ? nullptr : &said.error());
                            on_enforced(said);
                          });
}

bool RequestFlow::settle_zero_limits() {
  const bool has_some = service::settle_zero_limits(answer_.limits, *colleagues_.clock);
  enforced_ = places_of(Role::Enforced);
  if (!has_some || !is_denied_by_zero_limits(answer_.limits)) return false;
  answer_.allowed = false;
  answer_.reason = Reason::OverLimit;
  return true;
}

void RequestFlow::peek_at_others() {
  Places others;
  for (const Role role : {Role::Enforced, Role::Alternative, Role::Shadow}) {
    const Places more = places_of(role);
    others.insert(others.end(), more.begin(), more.end());
  }
  if (others.empty()) return ask_to_give_back();
  std::vector<core::NamedCheck> peeks = checks_of(others);
  for (core::NamedCheck& peek : peeks) peek.cost = Cost{0};
  colleagues_.store.check(
      std::move(peeks), deadline_,
      [this, others, since = base::monotonic_now()](const Result<Store::Decisions>& said) {
        hear_store(since, said ? nullptr : &said.error());
        if (said) {
          note(others, *said);
          for (const std::size_t place : others) {
            LimitAnswer& limit = answer_.limits[place];
            const core::NamedCheck& check = limit.applied.check;
            limit.decision = would_say(*limit.decision, check.quota, check.cost);
          }
          take_what_is_left(Role::Enforced);
        }
        ask_to_give_back();
      });
}

void RequestFlow::on_enforced(const Result<Store::Decisions>& said) {
  if (!said) return without_store();
  note(enforced_, *said);
  for (const std::size_t place : enforced_) {
    remember(colleagues_.local, answer_.limits[place], changes_);
  }
  const bool is_refused = std::any_of(enforced_.begin(), enforced_.end(), [&](std::size_t place) {
    return !answer_.limits[place].decision->allowed();
  });
  if (!is_refused) return ask_alternatives();
  answer_.allowed = false;
  answer_.reason = Reason::OverLimit;
  take_what_is_left(Role::Enforced);
  ask_to_give_back();
}

// Nobody is asked again: the failure policy answers for all limits.
void RequestFlow::without_store() {
  obey_failure_policy(enforced_);
  failed_ = places_of(Role::Alternative);
  if (!answer_.allowed || failed_.empty()) return finish();
  const Reason of_enforced = answer_.reason;
  judge_alternatives();
  if (answer_.allowed) {
    answer_.reason = of_enforced;
  } else {
    Places taken = enforced_;
    std::erase_if(taken, [this](std::size_t place) { return !answer_.limits[place].local; });
    colleagues_.local.undo(checks_of(taken));
  }
  finish();
}

void RequestFlow::ask_alternatives() {
  const Places alternatives = places_of(Role::Alternative);
  if (alternatives.empty()) return ask_shadows();
  ask_each(alternatives, &RequestFlow::on_alternatives);
}

void RequestFlow::on_alternatives() {
  judge_alternatives();
  if (answer_.allowed) return ask_shadows();
  give_back_enforced();
  take_what_is_left(Role::Alternative);
  ask_to_give_back();
}

void RequestFlow::judge_alternatives() {
  for (const std::size_t place : failed_) stand_in(place);
  const auto any = [&](auto holds) {
    return std::any_of(answer_.limits.begin(), answer_.limits.end(), [&](const LimitAnswer& limit) {
      return role_of(limit.applied) == Role::Alternative && holds(limit);
    });
  };
  const bool has_shadow =
      std::any_of(answer_.limits.begin(), answer_.limits.end(),
                  [](const LimitAnswer& limit) { return is_shadow_alternative(limit.applied); });
  // without a decision the store failed, and the rule is open or closed
  answer_.allowed = has_shadow || any([](const LimitAnswer& limit) {
                      return limit.decision
                                 ? limit.decision->allowed()
                                 : on_failure_of(limit.applied) == rules::OnFailure::Open;
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

void RequestFlow::stand_in(std::size_t place) {
  LimitAnswer& limit = answer_.limits[place];
  const rules::OnFailure on_failure = on_failure_of(limit.applied);
  if (plan_for_failure({&on_failure, 1}).limits.front() != InPlace::AskLocally) return;
  limit.decision = colleagues_.local.check({limit.applied.check}).front();
  limit.local = true;
}

void RequestFlow::ask_shadows() {
  const Places shadows = places_of(Role::Shadow);
  if (shadows.empty()) return ask_to_give_back();
  ask_each(shadows, &RequestFlow::ask_to_give_back);
}

void RequestFlow::ask_to_give_back() {
  const Places places = places_of(Role::GivesBack);
  if (places.empty()) return finish();
  const base::Deadline since = base::monotonic_now();
  colleagues_.store.refund(checks_of(places), deadline_,
                           [this, since](const Result<Store::Decisions>& said) {
                             hear_store(since, said ? nullptr : &said.error());
                             const Places given_back = places_of(Role::GivesBack);
                             if (said) {
                               note(given_back, *said);
                             } else if (given_back.size() == answer_.limits.size()) {
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
  if (reporting_ == Reporting::Flow) colleagues_.events.on_answer(domain_, answer_);
  answered_(std::move(answer_));
}

void RequestFlow::obey_failure_policy(const Places& places) {
  std::vector<rules::OnFailure> policies;
  for (const std::size_t place : places) {
    policies.push_back(on_failure_of(answer_.limits[place].applied));
  }
  const FailurePlan plan = plan_for_failure(policies);
  answer_.reason = plan.reason;
  answer_.allowed = plan.reason != Reason::FailedClosed;
  Places local;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (plan.limits[i] == InPlace::AskLocally) local.push_back(places[i]);
  }
  if (local.empty()) return;
  note(local, colleagues_.local.check(checks_of(local)));
  for (const std::size_t place : local) {
    answer_.limits[place].local = true;
    answer_.allowed = answer_.allowed && answer_.limits[place].decision->allowed();
  }
}

void RequestFlow::take_what_is_left(Role role) {
  for (LimitAnswer& limit : answer_.limits) {
    const rules::Applied& applied = limit.applied;
    if (role_of(applied) != role || !counts_denied(applied) || limit.local) continue;
    if (!limit.decision || limit.decision->outcome() == Outcome::Blocked) continue;
    core::NamedCheck check = applied.check;
    check.cost.units = std::min<std::uint64_t>(check.cost.units, limit.decision->remaining());
    if (check.cost.units == 0) continue;
    // what it says when that is gone as well, on the safe side: nobody waits to hear it
    const Decision& before = *limit.decision;
    const auto left = static_cast<std::uint32_t>(before.remaining() - check.cost.units);
    const Duration until =
        std::max(before.reset_after(), before.retry_after().value_or(Duration{}));
    if (before.outcome() != Outcome::NeverFits && left < applied.check.cost.units) {
      limit.decision = Decision::deny(before.limit(), left, until, until);
    }
    colleagues_.store.check({std::move(check)}, time_of_its_own(), unheard());
  }
}

void RequestFlow::give_back_enforced() {
  Places places = enforced_;
  std::erase_if(places, [&](std::size_t place) {
    return !answer_.limits[place].decision || counts_denied(answer_.limits[place].applied);
  });
  if (places.empty()) return;
  colleagues_.store.refund(checks_of(places), time_of_its_own(), unheard());
}

Store::Answered<Store::Decisions> RequestFlow::unheard() const {
  return [events = &colleagues_.events,
          since = base::monotonic_now()](const Result<Store::Decisions>& said) {
    events->on_store_call(base::monotonic_now() - since, said ? nullptr : &said.error());
  };
}

base::Deadline RequestFlow::time_of_its_own() const {
  return colleagues_.within(base::Deadline::max());
}

void RequestFlow::ask_each(const Places& places, Next next) {
  next_ = next;
  failed_.clear();
  changes_ = colleagues_.local.changes();
  open_ = places.size() + 1;  // one for this loop: answers may come before it ends
  for (const std::size_t place : places) {
    colleagues_.store.check(
        {answer_.limits[place].applied.check}, deadline_,
        [this, place, since = base::monotonic_now()](const Result<Store::Decisions>& said) {
          hear_store(since, said ? nullptr : &said.error());
          if (said) {
            answer_.limits[place].decision = said->front();
            remember(colleagues_.local, answer_.limits[place], changes_);
          } else {
            failed_.push_back(place);
          }
          close_one();
        });
  }
  close_one();
}

void RequestFlow::close_one() {
  if (--open_ == 0) (this->*next_)();
}

RequestFlow::Places RequestFlow::places_of(Role role) const {
  Places places;
  for (std::size_t i = 0; i < answer_.limits.size(); ++i) {
    const rules::Applied& applied = answer_.limits[i].applied;
    if (role_of(applied) == role && !applied.check.quota.is_none()) places.push_back(i);
  }
  return places;
}

std::vector<core::NamedCheck> RequestFlow::checks_of(const Places& places) {
  std::vector<core::NamedCheck> checks;
  checks.reserve(places.size());
  asked_.clear();
  for (const std::size_t place : places) {
    const core::NamedCheck& check = answer_.limits[place].applied.check;
    const auto same = std::find_if(checks.begin(), checks.end(), [&](const auto& earlier) {
      return earlier.quota == check.quota && earlier.name == check.name;
    });
    asked_.push_back(static_cast<std::size_t>(same - checks.begin()));
    if (same == checks.end()) {
      checks.push_back(check);
    } else {
      same->cost = core::plus(same->cost, check.cost);
    }
  }
  return checks;
}

void RequestFlow::note(const Places& places, const Store::Decisions& decisions) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    answer_.limits[places[i]].decision = decisions[asked_[i]];
  }
}

void RequestFlow::hear_store(base::Deadline since, const Error* failure) const {
  colleagues_.events.on_store_call(base::monotonic_now() - since, failure);
}

}  // namespace penstock::service
