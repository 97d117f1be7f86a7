#include "service/service.hpp"

#include "base/emplace_with.hpp"
#include "service/decide.hpp"

#include <utility>

namespace penstock::service {
namespace {

// The answer before any decision.
Answer answer_for(rules::Match match, std::shared_ptr<const rules::Ruleset> rules) {
  Answer answer;
  answer.limits.reserve(match.limits.size());
  for (rules::MatchedLimit& matched : match.limits) {
    answer.limits.emplace_back(
        base::EmplaceWith([&] { return LimitAnswer{.matched = std::move(matched)}; }));
  }
  match.limits.clear();
  answer.match = std::move(match);
  answer.rules = std::move(rules);
  return answer;
}

void explain_aborts(const RolloutSet& rollouts, std::vector<rules::RuleReport>& reports) {
  for (rules::RuleReport& report : reports) {
    if (!report.matched || !rollouts.is_aborted(*report.rule)) continue;
    report.reason +=
        "; the roll-out is aborted: shadow mode until the rule changes or "
        "a restart";
  }
}

}  // namespace

Service::Service(const ServiceDeps& deps, std::shared_ptr<const rules::Ruleset> rules)
    : deps_(deps), reservations_(deps_) {
  use(std::move(rules));
}

void Service::use(std::shared_ptr<const rules::Ruleset> rules) {
  // Every answer counts as a user of the rules. With a count for this event loop alone they do not
  // all write to one cache line.
  struct Kept {
    std::shared_ptr<const rules::Ruleset> rules;
    std::shared_ptr<RolloutSet> rollouts;  // answers point to its counters
  };
  const auto kept = std::make_shared<Kept>();
  if (deps_.rollouts != nullptr) kept->rollouts = deps_.rollouts->find(*rules);
  kept->rules = std::move(rules);
  rules_ = std::shared_ptr<const rules::Ruleset>(kept, kept->rules.get());
  rollouts_ = kept->rollouts.get();
  if (deps_.overrides != nullptr) prepare_overrides();
}

const std::shared_ptr<const rules::Ruleset>& Service::rules() const noexcept { return rules_; }

void Service::decide(const rules::Request& request, base::Deadline deadline, Answered answered) {
  Answer answer = answer_to(request);
  const std::string_view domain = answer.match.domain_known ? request.domain : std::string_view{};
  service::decide(deps_, std::move(answer), domain, deadline, std::move(answered));
}

void Service::take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
                   Answered answered) {
  service::decide(deps_, answer_for_take(std::move(check), on_failure), kTake, deadline,
                  std::move(answered));
}

Answer Service::take_without_store(core::NamedCheck check, rules::OnFailure on_failure) {
  Answer answer = decide_without_store(deps_, answer_for_take(std::move(check), on_failure));
  deps_.events.on_answer(kTake, answer);
  return answer;
}

std::optional<Decision> Service::try_take(std::string_view subject, const Quota& quota, Cost cost) {
  const std::optional<Decision> decision = deps_.stores.limits.try_check(subject, quota, cost);
  if (decision) deps_.events.on_take(subject, *decision);
  return decision;
}

Answer Service::undecided(rules::Match match) const {
  Answer answer = answer_for(std::move(match), rules_);
  apply_overrides(answer);
  if (rollouts_ != nullptr) rollouts_->apply(answer.limits, deps_.worker);
  return answer;
}

bool Service::is_in_shadow_now(const rules::Rule& rule) const {
  if (rollouts_ != nullptr && rollouts_->is_aborted(rule)) return true;
  return has_overrides() && overrides_.is_in_shadow(rule, *deps_.clock);
}

rules::Request Service::without_shadow_denials(rules::Request request) const {
  for (;;) {
    const rules::Rule* const rule = rules_->match(request).missing_key_rule;
    if (rule == nullptr || !is_in_shadow_now(*rule)) return request;
    request.in_shadow.push_back(rule);
  }
}

rules::Match Service::match(const rules::Request& request) const {
  rules::Match match = rules_->match(request);
  const rules::Rule* const denied_by = match.missing_key_rule;
  if (denied_by == nullptr || !is_in_shadow_now(*denied_by)) return match;
  return rules_->match(without_shadow_denials(request));
}

Answer Service::answer_to(const rules::Request& request) const {
  Answer answer = undecided(match(request));
  if (!answer.match.domain_known) {
    answer.unknown_domain = request.domain;
    deps_.events.on_unknown_domain(request.domain, answer.match.unknown_domain_denied
                                                       ? rules::UnknownDomain::Deny
                                                       : rules::UnknownDomain::Allow);
  }
  return answer;
}

Answer Service::answer_for_take(core::NamedCheck check, rules::OnFailure on_failure) const {
  Answer answer;
  answer.limits.push_back(
      {.matched = {
           .check = std::move(check), .metric = std::string(kTake), .on_failure = on_failure}});
  answer.match.domain_known = true;
  answer.rules = rules_;
  return answer;
}

void Service::reserve(rules::Request request, ReservationRequest reservation,
                      base::Deadline deadline, Reservations::Answered<ReserveResult> answered) {
  request.cost = Cost{1};  // costs are multiples of the estimate
  Answer answer = answer_to(request);
  std::string domain = answer.match.domain_known ? std::string(request.domain) : std::string{};
  reservations_.reserve(std::move(answer), std::move(domain), std::move(reservation), deadline,
                        std::move(answered));
}

void Service::reserve(core::NamedCheck check, rules::OnFailure on_failure,
                      ReservationRequest reservation, base::Deadline deadline,
                      Reservations::Answered<ReserveResult> answered) {
  check.cost = Cost{1};
  reservations_.reserve(answer_for_take(std::move(check), on_failure), std::string(kTake),
                        std::move(reservation), deadline, std::move(answered));
}

void Service::explain(const rules::Request& request, base::Deadline deadline,
                      std::function<void(Explained)> answered) {
  rules::Explanation explanation = rules_->explain(request);
  const rules::Rule* const denied_by = explanation.match.missing_key_rule;
  if (denied_by != nullptr && is_in_shadow_now(*denied_by)) {
    explanation = rules_->explain(without_shadow_denials(request));
  }
  Answer answer = undecided(explanation.match);
  if (rollouts_ != nullptr) explain_aborts(*rollouts_, explanation.rules);
  if (!answer.match.domain_known) answer.unknown_domain = request.domain;
  peek(deps_, std::move(answer), deadline,
       [explanation = std::move(explanation), answered = std::move(answered)](Answer said) {
         answered({.answer = std::move(said), .explanation = explanation});
       });
}

void Service::usage(const rules::Request& request, base::Deadline deadline,
                    std::function<void(const Result<Answer>&)> answered) {
  read_usage(deps_, undecided(match(request)), deadline, std::move(answered));
}

void Service::commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                     Reservations::Answered<SettleResult> answered) {
  reservations_.commit(std::move(id), actual, deadline, std::move(answered));
}

void Service::cancel(std::string id, base::Deadline deadline,
                     Reservations::Answered<SettleResult> answered) {
  reservations_.cancel(std::move(id), deadline, std::move(answered));
}

}  // namespace penstock::service
