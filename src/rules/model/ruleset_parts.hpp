#pragma once

#include "rules/match/domain_matcher.hpp"
#include "rules/model/ruleset.hpp"
#include "rules/model/text_map.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::rules {

struct DomainPart {
  Source source{};
  std::unique_ptr<const DomainMatcher> matcher{};
  TextMap<const Rule*> rules{};  // by name
};

struct Ruleset::Parts {
  std::vector<std::unique_ptr<const Rule>> rules;
  TextMap<DomainPart> domains;
  UnknownDomain unknown_domain = UnknownDomain::Allow;
};

}  // namespace penstock::rules
