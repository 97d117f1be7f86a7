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
  NoRule,  // no limit holds for it, or the rules say unlimited
  WithinLimits,
  OverLimit,  // a limit refused; Blocked and NeverFits of its decision say more
  AllowListed,
  DenyListed,
  FailedOpen,        // the store could not be asked, and the rule lets it pass
  FailedClosed,      // ... refuses
  DecidedLocally,    // the store could not be asked; this node's share decided
  MissingAttribute,  // a rule with if_missing: deny lacks an attribute of its key
  UnknownDomain,     // unknown_domain: deny, and the domain has no rules
};
[[nodiscard]] std::string_view to_string(Reason reason) noexcept;

// One limit of the request, with what it said. When the store could not be asked and nobody
// answered in its place, there is no decision.
struct LimitAnswer {
  rules::MatchedLimit matched;
  std::optional<Decision> decision{};
  bool shadow = false;  // its refusal does not count
  bool local = false;   // decided by this node's share
};

// What one request is told.
struct Answer {
  bool allowed = true;
  Reason reason = Reason::NoRule;
  std::vector<LimitAnswer> limits{};
  // Of the limits that are enforced, the one that answers: of those that refuse, the one to wait
  // for longest; else the one with the least remaining.
  std::optional<std::size_t> strictest{};
  rules::Match match{};                           // without its limits, which are above
  std::shared_ptr<const rules::Ruleset> rules{};  // what the above points into
};

}  // namespace penstock::service
