#include "service/service.hpp"

#include "base/in_place.hpp"
#include "service/answer_at_once.hpp"
#include "service/peek.hpp"

#include <utility>

namespace penstock::service {
namespace {

// What is known before anybody is asked.
Answer answer_for(rules::Match match, std::shared_ptr<const rules::Ruleset> rules) {
  Answer answer;
  answer.limits.reserve(match.limits.size());
  for (rules::Applied& applied : match.limits) {
    answer.limits.emplace_back(
        base::InPlace([&] { return LimitAnswer{.applied = std::move(applied)}; }));
  }
  match.limits.clear();
  answer.match = std::move(match);
  answer.rules = std::move(rules);
  return answer;
}

}  // namespace

Service::Service(const Colleagues& colleagues, std::shared_ptr<const rules::Ruleset> rules)
    : colleagues_(colleagues), reservations_(colleagues_) {
  use(std::move(rules));
}

void Service::use(std::shared_ptr<const rules::Ruleset> rules) {
  // Every answer counts as a user of the rules. With a count for this event loop alone they do not
  // all write to one cache line.
  const auto kept = std::make_shared<const std::shared_ptr<const rules::Ruleset>>(std::move(rules));
  rules_ = std::shared_ptr<const rules::Ruleset>(kept, kept->get());
}

const std::shared_ptr<const rules::Ruleset>& Service::rules() const noexcept { return rules_; }

void Service::decide(const rules::Request& request, base::Deadline deadline, Answered answered) {
  Answer answer = answer_to(request);
  const std::string_view domain = answer.match.domain_known ? request.domain : std::string_view{};
  if (answer_at_once(colleagues_, domain, answer)) return answered(std::move(answer));
  RequestFlow::start(colleagues_, std::move(answer), std::string(domain), deadline,
                     std::move(answered));
}

void Service::take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
                   Answered answered) {
  Answer answer = answer_for_take(std::move(check), on_failure);
  if (answer_at_once(colleagues_, kTake, answer)) return answered(std::move(answer));
  RequestFlow::start(colleagues_, std::move(answer), std::string(kTake), deadline,
                     std::move(answered));
}

void Service::take_without_store(core::NamedCheck check, rules::OnFailure on_failure,
                                 Answered answered) {
  RequestFlow::start_without_store(colleagues_, answer_for_take(std::move(check), on_failure),
                                   std::string(kTake), std::move(answered));
}

std::optional<Decision> Service::take_at_once(std::string_view subject, const Quota& quota,
                                              Cost cost) {
  const std::optional<Decision> decision = colleagues_.store.check_at_once(subject, quota, cost);
  if (decision) colleagues_.events.on_take(subject, *decision);
  return decision;
}

Answer Service::answer_to(const rules::Request& request) const {
  Answer answer = answer_for(rules_->match(request), rules_);
  if (!answer.match.domain_known) {
    colleagues_.events.on_unknown_domain(request.domain, answer.match.unknown_domain_denied
                                                             ? rules::UnknownDomain::Deny
                                                             : rules::UnknownDomain::Allow);
  }
  return answer;
}

Answer Service::answer_for_take(core::NamedCheck check, rules::OnFailure on_failure) const {
  Answer answer;
  answer.limits.push_back(
      {.applied = {
           .check = std::move(check), .metric = std::string(kTake), .on_failure = on_failure}});
  answer.match.domain_known = true;
  answer.rules = rules_;
  return answer;
}

void Service::reserve(rules::Request request, ReservationTerms terms, base::Deadline deadline,
                      Reservations::Answered<Reserved> answered) {
  request.cost = Cost{1};  // costs are multiples of what is asked for
  Answer answer = answer_to(request);
  std::string domain = answer.match.domain_known ? std::string(request.domain) : std::string{};
  reservations_.reserve(std::move(answer), std::move(domain), std::move(terms), deadline,
                        std::move(answered));
}

void Service::reserve(core::NamedCheck check, rules::OnFailure on_failure, ReservationTerms terms,
                      base::Deadline deadline, Reservations::Answered<Reserved> answered) {
  check.cost = Cost{1};
  reservations_.reserve(answer_for_take(std::move(check), on_failure), std::string(kTake),
                        std::move(terms), deadline, std::move(answered));
}

void Service::explain(const rules::Request& request, base::Deadline deadline,
                      std::function<void(Explained)> answered) {
  rules::Explanation explanation = rules_->explain(request);
  Answer answer = answer_for(explanation.match, rules_);
  peek(colleagues_, std::move(answer), deadline,
       [explanation = std::move(explanation), answered = std::move(answered)](Answer said) {
         answered({.answer = std::move(said), .explanation = explanation});
       });
}

}  // namespace penstock::service
