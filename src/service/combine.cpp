#include "service/combine.hpp"

#include "core/fixed_window.hpp"
#include "core/strictest.hpp"

#include <algorithm>

namespace penstock::service {
namespace {

// The best of those offered, by their places; the first of those that are alike. Without a list of
// them: this is on the way of every request.
class Best {
 public:
  explicit Best(std::span<const LimitAnswer> limits) : limits_(limits) {}

  void offer_strictest(std::size_t place) {
    if (!place_ || core::is_stricter(*limits_[place].decision, *limits_[*place_].decision)) {
      place_ = place;
    }
  }
  void offer_soonest(std::size_t place) {
    if (!place_ || wait_of(place) < wait_of(*place_)) place_ = place;
  }
  [[nodiscard]] const std::optional<std::size_t>& place() const { return place_; }

 private:
  // Never is later than anything.
  [[nodiscard]] Duration wait_of(std::size_t place) const {
    return limits_[place].decision->retry_after().value_or(Duration::max());
  }

  std::span<const LimitAnswer> limits_;
  std::optional<std::size_t> place_;
};

}  // namespace

Role role_of(const rules::Applied& applied) noexcept {
  if (applied.gives_back) return Role::GivesBack;
  if (applied.rule == nullptr) return Role::Enforced;  // it came with the request
  if (applied.rule->shadow) return Role::Shadow;
  return applied.rule->quota_mode ? Role::Alternative : Role::Enforced;
}

bool is_shadow_alternative(const rules::Applied& applied) noexcept {
  return role_of(applied) == Role::Shadow && applied.rule->quota_mode;
}

rules::OnFailure on_failure_of(const rules::Applied& applied) noexcept {
  return applied.rule == nullptr ? applied.on_failure : applied.rule->on_failure;
}

Verdict combine(std::span<const LimitAnswer> limits) {
  Best enforced(limits);
  Best passing(limits);
  Best refusing_alternative(limits);
  Best given_back(limits);
  bool is_refused = false;
  bool all_alternatives_refuse = true;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Role role = role_of(limits[i].applied);
    const std::optional<Decision>& decision = limits[i].decision;
    const bool refuses = decision && !decision->allowed();
    const bool fails_closed =
        !decision && on_failure_of(limits[i].applied) == rules::OnFailure::Closed;
    if (role == Role::Alternative && !refuses && !fails_closed) all_alternatives_refuse = false;
    if (is_shadow_alternative(limits[i].applied)) all_alternatives_refuse = false;
    if (role == Role::Shadow || !decision) continue;
    if (role == Role::GivesBack) {
      given_back.offer_strictest(i);
    } else if (role == Role::Alternative && refuses) {
      refusing_alternative.offer_soonest(i);
    } else {
      passing.offer_strictest(i);
      if (role == Role::Enforced) enforced.offer_strictest(i);
      is_refused = is_refused || refuses;
    }
  }
  if (is_refused) return {.allowed = false, .strictest = enforced.place()};
  if (refusing_alternative.place() && all_alternatives_refuse) {
    return {.allowed = false, .strictest = refusing_alternative.place()};
  }
  return {.strictest = passing.place() ? passing.place() : given_back.place()};
}

bool settle_zero_limits(std::span<LimitAnswer> limits, const Clock& clock) {
  const bool has_some = std::any_of(limits.begin(), limits.end(), [](const LimitAnswer& limit) {
    return limit.applied.check.quota.is_none();
  });
  if (!has_some) return false;
  const Instant now = clock.now();
  for (LimitAnswer& limit : limits) {
    const core::NamedCheck& check = limit.applied.check;
    if (!check.quota.is_none()) continue;
    const Duration until_end = core::FixedWindow::window_end(check.quota, now) - now;
    limit.decision = limit.applied.gives_back ? Decision::allow(0, 0, until_end)
                                              : Decision::never_fits(0, 0, until_end);
  }
  return true;
}

bool is_denied_by_zero_limits(std::span<const LimitAnswer> limits) {
  const auto refuses = [](const LimitAnswer& limit) {
    return limit.decision && !limit.decision->allowed();
  };
  bool any_alternative_refuses = false;
  bool any_may_pass = false;
  for (const LimitAnswer& limit : limits) {
    const Role role = role_of(limit.applied);
    if (role == Role::Enforced && refuses(limit)) return true;
    if (is_shadow_alternative(limit.applied)) any_may_pass = true;
    if (role != Role::Alternative) continue;
    (refuses(limit) ? any_alternative_refuses : any_may_pass) = true;
  }
  return any_alternative_refuses && !any_may_pass;
}

bool settle_without_limits(Answer& answer) {
  if (const rules::Rule* const entry = answer.match.listed_by) {
    answer.allowed = entry->action != rules::Action::Deny;
    answer.reason = answer.allowed ? Reason::AllowListed : Reason::DenyListed;
    return true;
  }
  if (answer.match.missing_by != nullptr || answer.match.unknown_domain_denied) {
    answer.allowed = false;
    answer.reason =
        answer.match.missing_by != nullptr ? Reason::MissingAttribute : Reason::UnknownDomain;
    return true;
  }
  answer.reason = answer.limits.empty() ? Reason::NoRule : Reason::WithinLimits;
  return answer.limits.empty();
}

Decision would_say(const Decision& peeked, const Quota& quota, Cost cost) {
  if (peeked.outcome() == Outcome::Blocked || cost.units <= peeked.remaining()) return peeked;
  if (cost.units > quota.capacity()) {
    return Decision::never_fits(peeked.limit(), peeked.remaining(), peeked.reset_after());
  }
  return Decision::deny(peeked.limit(), peeked.remaining(), peeked.reset_after(),
                        peeked.reset_after());
}

}  // namespace penstock::service
