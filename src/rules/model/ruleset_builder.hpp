#pragma once

#include "rules/match/domain_matcher.hpp"
#include "rules/model/ruleset.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// Puts together the Ruleset of one or many files. Rules come first, then the matcher that points at
// them.
class RulesetBuilder {
 public:
  RulesetBuilder();
  ~RulesetBuilder();
  RulesetBuilder(const RulesetBuilder&) = delete;
  RulesetBuilder& operator=(const RulesetBuilder&) = delete;

  // Takes the name for a domain. Where it was taken before, or null when it was free.
  [[nodiscard]] const Source* claim_domain(const std::string& domain, Source source);
  // Numbers the rule and keeps it; the address is good as long as the Ruleset. REQUIRES: its name
  // is new in its domain; metric may be empty and is then "domain/name".
  const Rule& add_rule(Rule rule);
  // REQUIRES: the domain is claimed, and has no matcher yet.
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
