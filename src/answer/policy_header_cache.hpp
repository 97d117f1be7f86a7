#pragma once

#include "answer/rate_headers.hpp"
#include "rules/model/ruleset.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::answer {

// How header fields call a limit: as its rule, with its own name where the rule has several.
[[nodiscard]] std::string policy_name(const rules::MatchedLimit& matched);

// Policy header fields of the rules in force. They are the same for every request: written on first
// use, and kept as long as the rules.
//
// Thread-safety: none.
class PolicyHeaderCache {
 public:
  // Switches to these rules. Fields of other rules, which find() returned, become invalid.
  void use(const std::shared_ptr<const rules::Ruleset>& rules);
  // Null for a limit that is not as the rules have it: it travelled with the request, or its quota
  // is an override.
  [[nodiscard]] const PolicyHeader* find(const rules::MatchedLimit& matched);

 private:
  std::shared_ptr<const rules::Ruleset> rules_;
  std::vector<std::vector<PolicyHeader>> by_rule_;  // by Rule::index, and by limit
};

}  // namespace penstock::answer
