#include "service/service.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::service {
namespace {

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

Error invalid_input(std::string text) { return {ErrorCode::InvalidInput, std::move(text)}; }

// A name is read only once.
void add_limits(std::vector<LimitAnswer>& limits, const rules::Ruleset& rules,
                const rules::Rule& rule, std::string_view subject) {
  const std::vector<Quota> quotas = rules.quotas_for(rule, subject);
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    core::LimitKey name = rules::Ruleset::limit_key(rule, i, subject);
    const bool known = std::any_of(limits.begin(), limits.end(), [&](const LimitAnswer& other) {
      return other.matched.check.name == name;
    });
    if (known) continue;
    limits.push_back(
        {.matched = {.rule = &rule,
                     .limit = i,
                     .check = {.name = std::move(name), .quota = quotas[i], .terms = rule.terms}}});
  }
}

// The subject of a rule that counts all requests together, as `penstock top` shows it.
constexpr std::string_view kAll = "(all)";

// A subject that no request can have would be blocked or read without an effect.
std::optional<Error> subject_error(const rules::Rule& rule, std::string_view subject) {
  const std::string name = in_quotes(rule.domain + "/" + rule.name);
  if (rule.key.empty()) {
    if (subject == kAll) return std::nullopt;
    return invalid_input("key: rule " + name + " counts all requests together; its key is \"" +
                         std::string(kAll) + "\"");
  }
  if (rules::Ruleset::is_subject_of(rule, subject)) return std::nullopt;
  std::string expected;
  for (const rules::KeyPart& part : rule.key) {
    expected += (expected.empty() ? "" : "&") + part.name + "=...";
  }
  return invalid_input("key: " + in_quotes(subject) + " is no key of rule " + name + "; expected " +
                       in_quotes(expected));
}

// A limit of 0 denies without counting. One that an override changed counts before and afterwards.
void drop_zero_limits(std::vector<LimitAnswer>& limits) {
  std::erase_if(limits, [](const LimitAnswer& limit) {
    return limit.matched.check.quota.is_none() && limit.overridden_by == nullptr;
  });
}

Answer answer_for(std::shared_ptr<const rules::Ruleset> rules) {
  Answer answer;
  answer.match.domain_known = true;
  answer.rules = std::move(rules);
  return answer;
}

}  // namespace

Result<Answer> Service::limits_of_rule(std::string_view domain, std::string_view rule,
                                       std::string_view subject) const {
  const rules::Rule* found = rules_->find(domain, rule);
  const std::string name = in_quotes(std::string(domain) + "/" + std::string(rule));
  if (found == nullptr) return invalid_input("rule: " + name + " is not loaded");
  if (const auto error = subject_error(*found, subject)) return *error;
  if (found->key.empty()) subject = {};
  Answer answer = answer_for(rules_);
  add_limits(answer.limits, *rules_, *found, subject);
  apply_overrides(answer);
  const bool has_limits = !answer.limits.empty();
  drop_zero_limits(answer.limits);
  if (!answer.limits.empty()) return answer;
  if (has_limits) {
    return invalid_input("rule: " + name + " has a limit of 0, so there is no count");
  }
  const std::string whom = found->limits.empty() ? "" : " for " + in_quotes(subject);
  return invalid_input("rule: " + name + " sets no limit" + whom + ", so there is no count");
}

Result<Answer> Service::limits_of_domain(std::string_view domain, std::string_view subject) const {
  if (!rules_->has_domain(domain)) {
    return invalid_input("domain: " + in_quotes(domain) + " is not loaded");
  }
  Answer answer = answer_for(rules_);
  for (const rules::Rule* rule : rules_->rules_keyed_by(domain, subject)) {
    add_limits(answer.limits, *rules_, *rule, subject);
  }
  apply_overrides(answer);
  drop_zero_limits(answer.limits);
  if (!answer.limits.empty()) return answer;
  return invalid_input("key: no rule of domain " + in_quotes(domain) +
                       " counts by the attributes of " + in_quotes(subject) +
                       "; expected attributes as in \"api_key=abc\"");
}

}  // namespace penstock::service
