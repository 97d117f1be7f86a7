#pragma once

#include "penstock/clock.hpp"
#include "penstock/decision.hpp"
#include "rules/model/ruleset.hpp"
#include "store/operator_store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::service {

class RolloutCounter;

// Why a request passed or not.
enum class Reason : std::uint8_t {
  NoRule,  // no limit applies, or the rules say unlimited
  WithinLimits,
  OverLimit,  // a limit denied; see the outcome of its decision
  AllowListed,
  DenyListed,
  FailedOpen,        // the store was unavailable, and the rule allows
  FailedClosed,      // the store was unavailable, and the rule denies
  DecidedLocally,    // the store was unavailable; the local fallback decided
  MissingAttribute,  // a rule with if_missing: deny lacks an attribute of its key
  UnknownDomain,     // unknown_domain: deny, and the domain has no rules
};
[[nodiscard]] std::string_view to_string(Reason reason) noexcept;

// One limit of the request. It has no decision when the store was unavailable and the local
// fallback did not decide.
struct LimitAnswer {
  rules::MatchedLimit matched;
  std::optional<Decision> decision{};
  bool shadow = false;                                     // its denial is not enforced
  bool local = false;                                      // decided by the local fallback
  std::shared_ptr<const store::Override> overridden_by{};  // null without a live override
  // Of a rule with `abort` that is enforced for this request; lives as long as Answer::rules.
  RolloutCounter* rollout = nullptr;
};

// The answer to one request.
struct Answer {
  bool allowed = true;
  Reason reason = Reason::NoRule;
  std::vector<LimitAnswer> limits{};
  // The deciding one of the enforced limits: of the denials, the longest wait; otherwise the least
  // remaining.
  std::optional<std::size_t> strictest{};
  rules::Match match{};                           // without its limits, which are above
  std::string unknown_domain{};                   // set if the rules do not know the domain
  std::shared_ptr<const rules::Ruleset> rules{};  // what the above points into
  // The clock of the store, for the time of day at which a wait ends.
  const Clock* clock = &system_clock();
};

// Combining the decisions of several limits into one answer: pure functions.

// How a limit affects the answer.
enum class Role : std::uint8_t {
  Enforced,     // must pass
  Alternative,  // Envoy's quota mode: one of all alternatives must pass
  Shadow,       // charged, never enforced
  Refund,       // is refunded, never denies
};
[[nodiscard]] Role role_of(const rules::MatchedLimit& matched) noexcept;

// In quota mode and shadow mode: evaluated as a shadow limit, and never denies as an alternative.
// So the other alternatives cannot all deny, as in envoyproxy/ratelimit.
[[nodiscard]] bool is_shadow_alternative(const rules::MatchedLimit& matched) noexcept;

struct CombinedDecision {
  bool allowed = true;
  // See Answer::strictest. When all alternatives deny: the shortest wait, because one that passes
  // is enough.
  std::optional<std::size_t> strictest{};
};

// Denied when an enforced limit denies, or when all alternatives deny and none is in shadow mode.
// Limits without a decision deny nothing.
[[nodiscard]] CombinedDecision combine(std::span<const LimitAnswer> limits);

// Decides limits of 0 without the store: they deny checks and peeks, and accept refunds. Returns
// whether there are any; otherwise the clock is not read.
bool decide_zero_limits(std::span<LimitAnswer> limits, const Clock& clock);
// Whether they deny the request, whatever the other limits say: one is enforced, or all
// alternatives are limits of 0. REQUIRES: no other limit has a decision.
[[nodiscard]] bool is_denied_by_zero_limits(std::span<const LimitAnswer> limits);

// Decides without the store: an entry of an allow or deny list, or no limit at all. Returns whether
// it did.
[[nodiscard]] bool decide_without_limits(Answer& answer);

// The decision for this cost, derived from a peek. A denial has the longest possible `retry_after`:
// the time until all usage has expired.
[[nodiscard]] Decision decision_from_peek(const Decision& peeked, const Quota& quota, Cost cost);

}  // namespace penstock::service
