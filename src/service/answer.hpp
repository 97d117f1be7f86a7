#pragma once

#include "penstock/decision.hpp"
#include "rules/model/ruleset.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace penstock::service {

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
  bool shadow = false;  // its denial is not enforced
  bool local = false;   // decided by the local fallback
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
  std::shared_ptr<const rules::Ruleset> rules{};  // what the above points into
};

}  // namespace penstock::service
