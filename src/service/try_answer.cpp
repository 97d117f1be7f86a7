#include "service/try_answer.hpp"

#include "base/deadline.hpp"
#include "service/combine.hpp"
#include "service/failure_policy.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>

namespace penstock::service {
namespace {

// Longer lists of limits go to the heap.
constexpr std::size_t kInlineLimits = 8;
template <class Element>
using ShortList = boost::container::small_vector<Element, kInlineLimits>;

bool is_plain(const LimitAnswer& limit) {
  const rules::Rule* const rule = limit.matched.rule;
  return role_of(limit.matched) == Role::Enforced && (rule == nullptr || !rule->count_denied) &&
         !limit.matched.check.quota.is_none();
}

bool ask(const ServiceDeps& deps, std::vector<LimitAnswer>& limits) {
  ShortList<const core::NamedCheck*> checks;
  for (const LimitAnswer& limit : limits) checks.push_back(&limit.matched.check);
  ShortList<Decision> decisions(limits.size());
  const base::Deadline since = base::monotonic_now();
  if (!deps.stores.limits.try_check(checks, decisions)) return false;
  deps.events.on_store_call(base::monotonic_now() - since, nullptr);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    limits[i].decision = decisions[i];
    remember(deps.local, limits[i], deps.local.changes());
  }
  return true;
}

}  // namespace

bool try_answer(const ServiceDeps& deps, std::string_view domain, Answer& answer) {
  if (!std::all_of(answer.limits.begin(), answer.limits.end(), is_plain)) return false;
  const bool needs_store = answer.match.list_entry == nullptr && !answer.limits.empty();
  if (needs_store && !ask(deps, answer.limits)) return false;
  static_cast<void>(decide_without_limits(answer));
  const CombinedDecision verdict = combine(answer.limits);
  answer.strictest = verdict.strictest;
  if (!verdict.allowed) {
    answer.allowed = false;
    answer.reason = Reason::OverLimit;
  }
  deps.events.on_answer(domain, answer);
  return true;
}

}  // namespace penstock::service
