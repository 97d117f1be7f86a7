#pragma once

#include "rules/envoy/envoy_tree.hpp"
#include "rules/model/ruleset.hpp"

#include <vector>

namespace penstock::rules {

// A rule with the descriptors that lead to it, from the top.
struct EnvoyPath {
  const Rule* rule = nullptr;
  std::vector<const EnvoyNode*> nodes{};
};

// Why a rule holds for a request or does not: of its descriptors, the one that comes closest tells.
// REQUIRES: `match` is what was said about the request.
[[nodiscard]] RuleReport report_on(const EnvoyPath& path, const EnvoyNode& root,
                                   const Request& request, const Match& match);

}  // namespace penstock::rules
