#pragma once

#include "rules/model/request.hpp"
#include "rules/model/ruleset.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  // The attributes that decide whether the rule applies, and to whom; those of a map are replaced
  // by the one that is looked up. Empty when the format has no attributes.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> attributes_of(
      const Rule& /*rule*/) const {
    return std::nullopt;
  }
};

// The limit that a descriptor brings. REQUIRES: it does.
[[nodiscard]] MatchedLimit limit_sent_with(const Request& request, std::size_t descriptor);

// Beyond this many reports an explanation is cut short.
inline constexpr std::size_t kMaxReports = 1000;

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
