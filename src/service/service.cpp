#include "service/service.hpp"

#include "service/answer_at_once.hpp"
#include "service/peek.hpp"

#include <utility>

namespace penstock::service {
namespace {

// Becomes a LimitAnswer where that is to stand, without one in between: this is on the way of every
// request, and there is much to move.
struct Unasked {
  rules::Applied& applied;

  // NOLINTNEXTLINE(google-explicit-constructor)
  operator LimitAnswer() const { return {.applied = std::move(applied)}; }
};

// What is known before anybody is asked.
Answer answer_for(rules::Match match, std::shared_ptr<const rules::Ruleset> rules) {
  Answer answer;
  answer.limits.reserve(match.limits.size());
  for (rules::Applied& applied : match.limits) {
    answer.limits.emplace_back(Unasked{applied});
  }
  match.limits.clear();
  answer.match = std::move(match);
  answer.rules = std::move(rules);
  return answer;
}

}  // namespace

Service::Service(store::Store& store, LocalShare& local, Events& events,
                 std::shared_ptr<const rules::Ruleset> rules)
    : colleagues_{.store = store, .local = local, .events = events} {
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
  Answer answer = answer_for(rules_->match(request), rules_);
  const std::string_view domain = answer.match.domain_known ? request.domain : std::string_view{};
  if (answer_at_once(colleagues_, domain, answer)) return answered(std::move(answer));
  RequestFlow::start(colleagues_, std::move(answer), std::string(domain), deadline,
                     std::move(answered));
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
