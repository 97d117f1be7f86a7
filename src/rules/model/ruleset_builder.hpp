#pragma once

#include "rules/match/domain_matcher.hpp"
#include "rules/model/ruleset.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// Builds the Ruleset of one or more files: first the rules, then the matchers that refer to them.
class RulesetBuilder {
 public:
  RulesetBuilder();
  ~RulesetBuilder();
  RulesetBuilder(const RulesetBuilder&) = delete;
  RulesetBuilder& operator=(const RulesetBuilder&) = delete;

  // Reserves the name of a domain. Returns where it was reserved before, or null.
  [[nodiscard]] const Source* claim_domain(const std::string& domain, Source source);
  // Numbers and stores the rule; the pointer is valid as long as the Ruleset. An empty metric
  // becomes "domain/name". REQUIRES: its name is new in its domain.
  const Rule& add_rule(Rule rule);
  // REQUIRES: the domain is reserved, and has no matcher yet.
  void add_domain(const std::string& domain, std::unique_ptr<const DomainMatcher> matcher);
  void set_unknown_domain(UnknownDomain what);
  [[nodiscard]] UnknownDomain unknown_domain() const noexcept;
  [[nodiscard]] bool has_domain(std::string_view domain) const;
  [[nodiscard]] std::vector<std::string> domains() const;
  [[nodiscard]] const std::vector<std::unique_ptr<const Rule>>& rules() const noexcept;

  // The builder is empty afterwards.
  [[nodiscard]] std::shared_ptr<const Ruleset> build();

 private:
  std::unique_ptr<Ruleset::Impl> impl_;
};

}  // namespace penstock::rules
