#include "service/failure_policy.hpp"

#include <algorithm>

namespace penstock::service {

using rules::OnFailure;

namespace {

FailureAction action_of(OnFailure on_failure) noexcept {
  switch (on_failure) {
    case OnFailure::Open: return FailureAction::Allow;
    case OnFailure::Closed: return FailureAction::Deny;
    case OnFailure::Local: return FailureAction::DecideLocally;
  }
  return FailureAction::Allow;
}

}  // namespace

OnFailure on_failure_of(const rules::MatchedLimit& matched) noexcept {
  return matched.rule == nullptr ? matched.on_failure : matched.rule->on_failure;
}

FailureAction action_on_failure(const rules::MatchedLimit& matched) noexcept {
  return action_of(on_failure_of(matched));
}

bool failed_closed(const LimitAnswer& limit) noexcept {
  return !limit.decision && !limit.shadow && role_of(limit.matched) != Role::Refund &&
         action_on_failure(limit.matched) == FailureAction::Deny;
}

FailurePlan plan_for_failure(std::span<const OnFailure> limits) {
  const auto has = [&](OnFailure wanted) {
    return std::find(limits.begin(), limits.end(), wanted) != limits.end();
  };
  const bool is_denied = has(OnFailure::Closed);
  FailurePlan plan;
  plan.reason = is_denied               ? Reason::FailedClosed
                : has(OnFailure::Local) ? Reason::DecidedLocally
                                        : Reason::FailedOpen;
  for (const OnFailure on_failure : limits) {
    const bool skips = is_denied && on_failure != OnFailure::Closed;
    plan.limits.push_back(skips ? FailureAction::Skip : action_of(on_failure));
  }
  return plan;
}

void remember(LocalFallback& local, const LimitAnswer& limit, std::uint64_t changes) {
  if (on_failure_of(limit.matched) != OnFailure::Local || limit.shadow) return;
  local.remember(limit.matched.check, *limit.decision, changes);
}

}  // namespace penstock::service
