#pragma once

#include "rules/model/request.hpp"
#include "rules/model/ruleset.hpp"

#include <optional>

namespace penstock::rules {

// What a domain says about a request; each format of rules has its own. Immutable.
//
// Thread-safety: all members, from any thread.
class DomainMatcher {
 public:
  DomainMatcher() = default;
  DomainMatcher(const DomainMatcher&) = delete;
  DomainMatcher& operator=(const DomainMatcher&) = delete;
  virtual ~DomainMatcher() = default;

  // Adds the limits that apply, in the order of descriptors and rules, and the outcome of each
  // descriptor. `match.descriptors` is as long as the request's, all NoRule. The same key may occur
  // twice: the Ruleset adds the costs.
  virtual void match(const Request& request, Match& match) const = 0;
  // The same into explanation.match, with a report per rule.
  virtual void explain(const Request& request, Explanation& explanation) const = 0;

  // The override for a client of which only the key attributes are known. Null: none; empty:
  // unlimited.
  [[nodiscard]] virtual const std::optional<Quota>* find_override(
      const Rule& /*rule*/, const Descriptor& /*subject*/) const {
    return nullptr;
  }
};

// Beyond this many reports an explanation is cut short.
inline constexpr std::size_t kMaxReports = 1000;

}  // namespace penstock::rules
