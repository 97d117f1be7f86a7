#pragma once

#include "rules/envoy/envoy_tree.hpp"
#include "rules/model/ruleset.hpp"
#include "rules/model/ruleset_builder.hpp"

#include <boost/container/small_vector.hpp>

#include <string>
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

// A domain with the descriptors of envoyproxy/ratelimit. Each descriptor of a request is looked up
// by itself; afterwards limits that another one replaces are left out.
class EnvoyMatcher final : public DomainMatcher {
 public:
  // REQUIRES: the rules live as long as the matcher; the paths are of this tree, in declared order.
  EnvoyMatcher(std::string domain, EnvoyNode root, std::vector<EnvoyPath> paths);

  void match(const Request& request, Match& match) const override;
  void explain(const Request& request, Explanation& explanation) const override;

 private:
  // The path of each descriptor, empty when no limit applies.
  using MatchPaths = boost::container::small_vector<EnvoyMatchPath, 4>;

  [[nodiscard]] MatchPaths match_paths_of(const Request& request) const;
  void apply(const Request& request, const MatchPaths& match_paths, Match& match) const;
  [[nodiscard]] MatchedLimit limit_by_rule(const Request& request, std::size_t descriptor,
                                           const EnvoyMatchPath& match_path) const;

  std::string domain_;
  EnvoyNode root_;
  std::vector<EnvoyPath> paths_;
};

}  // namespace penstock::rules
