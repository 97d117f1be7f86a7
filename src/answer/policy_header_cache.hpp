#pragma once

#include "answer/rate_headers.hpp"
#include "rules/model/ruleset.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::answer {

// How header fields call a limit: as its rule, with its own name where the rule has several.
[[nodiscard]] std::string policy_name(const rules::MatchedLimit& matched);

// What header fields say about the limits of the rules in force, which is the same for every
// request: written when it is first asked for, and kept as long as the rules are.
//
// Thread-safety: none.
class PolicyHeaderCache {
 public:
  // Those asked for from now on belong to these rules. Forgets all others, and what find() gave.
  void use(const std::shared_ptr<const rules::Ruleset>& rules);
  // Null for a limit that is not as the rules have it: it travelled with the request, or its quota
  // is an override.
  [[nodiscard]] const PolicyHeader* find(const rules::MatchedLimit& matched);

 private:
  std::shared_ptr<const rules::Ruleset> rules_;
  std::vector<std::vector<PolicyHeader>> by_rule_;  // by Rule::index, and by limit
};

}  // namespace penstock::answer
