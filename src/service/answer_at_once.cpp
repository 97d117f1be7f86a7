#include "service/answer_at_once.hpp"

#include "base/deadline.hpp"
#include "service/combine.hpp"
#include "service/failure_policy.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>

namespace penstock::service {
namespace {

// Longer lists of limits go to the heap.
constexpr std::size_t kUsualLimits = 8;
template <class Element>
using ShortList = boost::container::small_vector<Element, kUsualLimits>;

bool is_usual(const LimitAnswer& limit) {
  const rules::Rule* const rule = limit.applied.rule;
  return role_of(limit.applied) == Role::Enforced && (rule == nullptr || !rule->count_denied) &&
         !limit.applied.check.quota.is_none();
}

bool ask(const Colleagues& colleagues, std::vector<LimitAnswer>& limits) {
  ShortList<const core::NamedCheck*> checks;
  for (const LimitAnswer& limit : limits) checks.push_back(&limit.applied.check);
  ShortList<Decision> decisions(limits.size());
  const base::Deadline since = base::monotonic_now();
  if (!colleagues.store.check_at_once(checks, decisions)) return false;
  colleagues.events.on_store_call(base::monotonic_now() - since, nullptr);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    limits[i].decision = decisions[i];
    remember(colleagues.local, limits[i], colleagues.local.changes());
  }
  return true;
}

}  // namespace

bool answer_at_once(const Colleagues& colleagues, std::string_view domain, Answer& answer) {
  if (!std::all_of(answer.limits.begin(), answer.limits.end(), is_usual)) return false;
  const bool needs_store = answer.match.listed_by == nullptr && !answer.limits.empty();
  if (needs_store && !ask(colleagues, answer.limits)) return false;
  static_cast<void>(settle_without_limits(answer));
  const Verdict verdict = combine(answer.limits);
  answer.strictest = verdict.strictest;
  if (!verdict.allowed) {
    answer.allowed = false;
    answer.reason = Reason::OverLimit;
  }
  colleagues.events.on_answer(domain, answer);
  return true;
}

}  // namespace penstock::service
