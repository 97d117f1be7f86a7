#include "answer/policy_header_cache.hpp"

namespace penstock::answer {

std::string policy_name(const rules::MatchedLimit& matched) {
  if (matched.rule == nullptr) return "request";
  const rules::Rule& rule = *matched.rule;
  const bool named = matched.limit < rule.limits.size() && !rule.limits[matched.limit].name.empty();
  return named ? rule.name + "/" + rule.limits[matched.limit].name : rule.name;
}

void PolicyHeaderCache::use(const std::shared_ptr<const rules::Ruleset>& rules) {
  if (rules == rules_) return;
  rules_ = rules;
  by_rule_.clear();
}

const PolicyHeader* PolicyHeaderCache::find(const rules::MatchedLimit& matched) {
  const rules::Rule* const rule = matched.rule;
  if (rules_ == nullptr || rule == nullptr || matched.limit >= rule->limits.size()) return nullptr;
  if (!(matched.check.quota == rule->limits[matched.limit].quota)) return nullptr;
  if (by_rule_.size() <= rule->index) by_rule_.resize(rule->index + 1);
  std::vector<PolicyHeader>& texts = by_rule_[rule->index];
  if (texts.empty()) texts.resize(rule->limits.size());
  PolicyHeader& text = texts[matched.limit];
  if (text.name.empty()) text = policy_header(policy_name(matched), matched.check.quota);
  return &text;
}

}  // namespace penstock::answer
