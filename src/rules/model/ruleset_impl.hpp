#pragma once

#include "rules/match/domain_matcher.hpp"
#include "rules/model/ruleset.hpp"
#include "rules/model/text_map.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::rules {

struct DomainEntry {
  Source source{};
  std::unique_ptr<const DomainMatcher> matcher{};
  TextMap<const Rule*> rules{};  // by name
};

struct Ruleset::Impl {
  std::vector<std::unique_ptr<const Rule>> rules;
  TextMap<DomainEntry> domains;
  UnknownDomain unknown_domain = UnknownDomain::Allow;
};

}  // namespace penstock::rules
