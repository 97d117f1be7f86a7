#include "answer/policy_texts.hpp"

namespace penstock::answer {

std::string policy_name(const rules::Applied& applied) {
  if (applied.rule == nullptr) return "request";
  const rules::Rule& rule = *applied.rule;
  const bool named = applied.limit < rule.limits.size() && !rule.limits[applied.limit].name.empty();
  return named ? rule.name + "/" + rule.limits[applied.limit].name : rule.name;
}

void PolicyTexts::use(const std::shared_ptr<const rules::Ruleset>& rules) {
  if (rules == rules_) return;
  rules_ = rules;
  by_rule_.clear();
}

const PolicyText* PolicyTexts::find(const rules::Applied& applied) {
  const rules::Rule* const rule = applied.rule;
  if (rules_ == nullptr || rule == nullptr || applied.limit >= rule->limits.size()) return nullptr;
  if (!(applied.check.quota == rule->limits[applied.limit].quota)) return nullptr;
  if (by_rule_.size() <= rule->index) by_rule_.resize(rule->index + 1);
  std::vector<PolicyText>& texts = by_rule_[rule->index];
  if (texts.empty()) texts.resize(rule->limits.size());
  PolicyText& text = texts[applied.limit];
  if (text.name.empty()) text = policy_text(policy_name(applied), applied.check.quota);
  return &text;
}

}  // namespace penstock::answer
