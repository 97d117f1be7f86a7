#include "service/answer.hpp"

#include "core/decide_all.hpp"
#include "core/fixed_window.hpp"
#include "service/failure_policy.hpp"

#include <algorithm>

namespace penstock::service {
namespace {

// The best of those offered, by their places; the first of those that are alike. Without a list of
// them: this is on the way of every request.
class Best {
 public:
  explicit Best(std::span<const LimitAnswer> limits) : limits_(limits) {}

  void offer_strictest(std::size_t index) {
    if (!index_ || core::is_stricter(*limits_[index].decision, *limits_[*index_].decision)) {
      index_ = index;
    }
  }
  void offer_soonest(std::size_t index) {
    if (!index_ || wait_of(index) < wait_of(*index_)) index_ = index;
  }
  [[nodiscard]] const std::optional<std::size_t>& index() const { return index_; }

 private:
  // Never is later than anything.
  [[nodiscard]] Duration wait_of(std::size_t index) const {
    return limits_[index].decision->retry_after().value_or(Duration::max());
  }

  std::span<const LimitAnswer> limits_;
  std::optional<std::size_t> index_;
};

}  // namespace

std::string_view to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::NoRule: return "no_rule";
    case Reason::WithinLimits: return "within_limits";
    case Reason::OverLimit: return "over_limit";
    case Reason::AllowListed: return "allow_listed";
    case Reason::DenyListed: return "deny_listed";
    case Reason::FailedOpen: return "failed_open";
    case Reason::FailedClosed: return "failed_closed";
    case Reason::DecidedLocally: return "decided_locally";
    case Reason::MissingAttribute: return "missing_attribute";
    case Reason::UnknownDomain: return "unknown_domain";
  }
  return "unknown";
}

Role role_of(const rules::MatchedLimit& matched) noexcept {
  if (matched.is_refund) return Role::Refund;
  if (matched.rule == nullptr) return Role::Enforced;  // it came with the request
  if (matched.rule->shadow || matched.shadow) return Role::Shadow;
  return matched.rule->quota_mode ? Role::Alternative : Role::Enforced;
}

bool is_shadow_alternative(const rules::MatchedLimit& matched) noexcept {
  return role_of(matched) == Role::Shadow && matched.rule->quota_mode;
}

CombinedDecision combine(std::span<const LimitAnswer> limits) {
  Best enforced(limits);
  Best passing(limits);
  Best denying_alternative(limits);
  Best refunded(limits);
  bool is_denied = false;
  bool all_alternatives_deny = true;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Role role = role_of(limits[i].matched);
    const std::optional<Decision>& decision = limits[i].decision;
    const bool denies = decision && !decision->allowed();
    const bool fails_closed =
        !decision && action_on_failure(limits[i].matched) == FailureAction::Deny;
    if (role == Role::Alternative && !denies && !fails_closed) all_alternatives_deny = false;
    if (is_shadow_alternative(limits[i].matched)) all_alternatives_deny = false;
    if (role == Role::Shadow || !decision) continue;
    if (role == Role::Refund) {
      refunded.offer_strictest(i);
    } else if (role == Role::Alternative && denies) {
      denying_alternative.offer_soonest(i);
    } else {
      passing.offer_strictest(i);
      if (role == Role::Enforced) enforced.offer_strictest(i);
      is_denied = is_denied || denies;
    }
  }
  if (is_denied) return {.allowed = false, .strictest = enforced.index()};
  if (denying_alternative.index() && all_alternatives_deny) {
    return {.allowed = false, .strictest = denying_alternative.index()};
  }
  return {.strictest = passing.index() ? passing.index() : refunded.index()};
}

bool decide_zero_limits(std::span<LimitAnswer> limits, const Clock& clock) {
  const bool has_some = std::any_of(limits.begin(), limits.end(), [](const LimitAnswer& limit) {
    return limit.matched.check.quota.is_none();
  });
  if (!has_some) return false;
  const Instant now = clock.now();
  for (LimitAnswer& limit : limits) {
    const core::NamedCheck& check = limit.matched.check;
    if (!check.quota.is_none()) continue;
    const Duration until_end = core::FixedWindow::window_end(check.quota, now) - now;
    limit.decision = limit.matched.is_refund ? Decision::allow(0, 0, until_end)
                                             : Decision::never_fits(0, 0, until_end);
  }
  return true;
}

bool is_denied_by_zero_limits(std::span<const LimitAnswer> limits) {
  const auto denies = [](const LimitAnswer& limit) {
    return limit.decision && !limit.decision->allowed();
  };
  bool any_alternative_denies = false;
  bool any_may_pass = false;
  for (const LimitAnswer& limit : limits) {
    const Role role = role_of(limit.matched);
    if (role == Role::Enforced && denies(limit)) return true;
    if (is_shadow_alternative(limit.matched)) any_may_pass = true;
    if (role != Role::Alternative) continue;
    (denies(limit) ? any_alternative_denies : any_may_pass) = true;
  }
  return any_alternative_denies && !any_may_pass;
}

bool decide_without_limits(Answer& answer) {
  if (const rules::Rule* const entry = answer.match.list_entry) {
    answer.allowed = entry->action != rules::Action::Deny;
    answer.reason = answer.allowed ? Reason::AllowListed : Reason::DenyListed;
    return true;
  }
  if (answer.match.missing_key_rule != nullptr || answer.match.unknown_domain_denied) {
    answer.allowed = false;
    answer.reason =
        answer.match.missing_key_rule != nullptr ? Reason::MissingAttribute : Reason::UnknownDomain;
    return true;
  }
  answer.reason = answer.limits.empty() ? Reason::NoRule : Reason::WithinLimits;
  return answer.limits.empty();
}

Decision decision_from_peek(const Decision& peeked, const Quota& quota, Cost cost) {
  if (peeked.outcome() == Outcome::Blocked || cost.units <= peeked.remaining()) return peeked;
  // of a limit that nodes divide, the share of this node
  if (cost.units > std::min(quota.capacity(), peeked.limit())) {
    return Decision::never_fits(peeked.limit(), peeked.remaining(), peeked.reset_after());
  }
  return Decision::deny(peeked.limit(), peeked.remaining(), peeked.reset_after(),
                        peeked.reset_after());
}

}  // namespace penstock::service
