#include "service/failure_policy.hpp"

#include "service/combine.hpp"

#include <algorithm>

namespace penstock::service {

using rules::OnFailure;

FailurePlan plan_for_failure(std::span<const OnFailure> limits) {
  const auto has = [&](OnFailure wanted) {
    return std::find(limits.begin(), limits.end(), wanted) != limits.end();
  };
  const bool is_refused = has(OnFailure::Closed);
  FailurePlan plan;
  plan.reason = is_refused              ? Reason::FailedClosed
                : has(OnFailure::Local) ? Reason::DecidedLocally
                                        : Reason::FailedOpen;
  for (const OnFailure on_failure : limits) {
    switch (on_failure) {
      case OnFailure::Closed: plan.limits.push_back(FailureAction::Deny); break;
      case OnFailure::Local:
        plan.limits.push_back(is_refused ? FailureAction::Skip : FailureAction::DecideLocally);
        break;
      case OnFailure::Open:
        plan.limits.push_back(is_refused ? FailureAction::Skip : FailureAction::Allow);
        break;
    }
  }
  return plan;
}

void remember(LocalFallback& local, const LimitAnswer& limit, std::uint64_t changes) {
  if (on_failure_of(limit.matched) != OnFailure::Local || limit.shadow) return;
  local.remember(limit.matched.check, *limit.decision, changes);
}

}  // namespace penstock::service
