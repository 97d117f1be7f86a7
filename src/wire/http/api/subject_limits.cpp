#include "wire/http/api/subject_limits.hpp"

#include "wire/http/api/invalid_input.hpp"

#include <algorithm>
#include <string>

namespace penstock::http {
namespace {

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// A name is read only once.
void add_limits(std::vector<SubjectLimit>& counts, const rules::Ruleset& rules,
                const rules::Rule& rule, std::string_view subject) {
  const std::vector<Quota> quotas = rules.quotas_for(rule, subject);
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    if (quotas[i].is_none()) continue;  // it denies without counting
    SubjectLimit count{.rule = rule.domain + "/" + rule.name,
                       .limit = rule.limits[i].name,
                       .name = rules::Ruleset::limit_key(rule, i, subject),
                       .quota = quotas[i]};
    const bool known = std::any_of(counts.begin(), counts.end(), [&](const SubjectLimit& other) {
      return other.name == count.name;
    });
    if (!known) counts.push_back(std::move(count));
  }
}

}  // namespace

Result<std::vector<SubjectLimit>> limits_of_rule(const rules::Ruleset& rules,
                                                 std::string_view domain, std::string_view rule,
                                                 std::string_view subject) {
  const rules::Rule* found = rules.find(domain, rule);
  const std::string name = in_quotes(std::string(domain) + "/" + std::string(rule));
  if (found == nullptr) return invalid_input("rule: " + name + " is not loaded");
  std::vector<SubjectLimit> counts;
  add_limits(counts, rules, *found, subject);
  if (counts.empty() && !found->limits.empty() && found->limits.front().quota.is_none()) {
    return invalid_input("rule: " + name + " has a limit of 0, so there is no count");
  }
  if (counts.empty()) {
    const std::string whom = found->limits.empty() ? "" : " for " + in_quotes(subject);
    return invalid_input("rule: " + name + " sets no limit" + whom + ", so there is no count");
  }
  return counts;
}

Result<std::vector<SubjectLimit>> limits_of_domain(const rules::Ruleset& rules,
                                                   std::string_view domain,
                                                   std::string_view subject) {
  if (!rules.has_domain(domain))
    return invalid_input("domain: " + in_quotes(domain) + " is not loaded");
  std::vector<SubjectLimit> counts;
  for (const rules::Rule* rule : rules.rules_keyed_by(domain, subject)) {
    add_limits(counts, rules, *rule, subject);
  }
  if (counts.empty()) {
    return invalid_input("key: no rule of domain " + in_quotes(domain) +
                         " counts by the attributes of " + in_quotes(subject) +
                         "; expected attributes as in \"api_key=abc\"");
  }
  return counts;
}

}  // namespace penstock::http
