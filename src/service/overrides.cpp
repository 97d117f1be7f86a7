#include "service/overrides.hpp"

#include "core/decide_all.hpp"
#include "core/lease.hpp"
#include "core/quota_math.hpp"
#include "rules/model/quota_defaults.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace penstock::service {
namespace {

using store::Override;

// The subject of a rule without a key, as `penstock top` shows it.
constexpr std::string_view kAllRequests = "(all)";
constexpr Decimal kLargestFactor = Decimal::from_nanos(1'000'000 * Decimal::kNanosPerUnit);

Error invalid_override(const std::string& text) { return {ErrorCode::InvalidInput, text}; }

std::string in_double_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// A rule, or one limit of it.
struct Target {
  const rules::Rule* rule = nullptr;
  std::optional<std::size_t> limit{};
};

// "api/search" or "api/search/minute". The name of a rule may contain a slash.
Result<Target> find_target(const rules::Ruleset& rules, const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) {
    return invalid_override("rule: " + in_double_quotes(name) +
                            " must be a domain and a rule, as in api/search");
  }
  const std::string_view domain = std::string_view(name).substr(0, slash);
  const std::string_view rest = std::string_view(name).substr(slash + 1);
  if (const rules::Rule* const rule = rules.find(domain, rest)) return Target{.rule = rule};
  const std::size_t last = rest.rfind('/');
  if (last != std::string_view::npos) {
    const rules::Rule* const rule = rules.find(domain, rest.substr(0, last));
    for (std::size_t i = 0; rule != nullptr && i < rule->limits.size(); ++i) {
      if (rule->limits[i].name == rest.substr(last + 1)) return Target{.rule = rule, .limit = i};
    }
  }
  return invalid_override("rule: " + in_double_quotes(name) + " is not loaded");
}

Result<Quota> quota_of(const std::string& text, Algorithm algorithm) {
  const Result<QuotaSpec> spec = QuotaSpec::parse(text);
  if (!spec || spec->limit != 0) return rules::parse_quota(text, {.algorithm = algorithm});
  const Result<Quota> period = Quota::make(per(1, spec->period).fixed_window());
  return period ? Result<Quota>(Quota::none(spec->period)) : period;
}

Result<Decimal> factor_of(const std::string& text) {
  const Result<Decimal> factor = Decimal::parse(text);
  if (!factor) return factor.error();
  if (*factor <= Decimal::from_nanos(0) || *factor > kLargestFactor) {
    return invalid_override(in_double_quotes(text) + " must be above 0, and 1000000 at most");
  }
  return *factor;
}

bool can_keep(const core::SharingTerms& terms, const Quota& quota) {
  const bool is_leased = terms.mode != core::Mode::Exact && terms.mode != core::Mode::Local;
  return !is_leased || quota.is_none() || core::can_lease(quota.algorithm());
}

Result<void> check_limit(const Target& target, const Override& set) {
  const rules::Rule& rule = *target.rule;
  if (!target.limit && rule.limits.size() > 1) {
    return invalid_override("limit: rule " + in_double_quotes(set.rule) +
                            " has several limits; name one of them, as in " + set.rule + "/" +
                            rule.limits.front().name);
  }
  const Result<Quota> quota =
      quota_of(set.value, rule.limits[target.limit.value_or(0)].quota.algorithm());
  if (!quota) return invalid_override("limit: " + quota.error().detail);
  if (can_keep(rule.terms, *quota)) return {};
  return invalid_override("limit: " + in_double_quotes(set.value) + " is counted by " +
                          std::string(to_string(quota->algorithm())) + ", which mode: " +
                          std::string(to_string(rule.terms.mode)) + " of the rule cannot keep");
}

Result<void> check_factor(const Target& target, const Override& set) {
  const Result<Decimal> factor = factor_of(set.value);
  if (!factor) return invalid_override("multiply: " + factor.error().detail);
  const std::vector<rules::RuleLimit>& limits = target.rule->limits;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (target.limit && *target.limit != i) continue;
    const Result<Quota> product = core::multiplied(limits[i].quota, *factor);
    if (!product) return invalid_override("multiply: " + product.error().detail);
  }
  return {};
}

std::string expected_subject(const rules::Rule& rule) {
  if (rule.key.empty()) return "; the rule counts all requests together, and has no subject";
  std::string expected;
  for (const rules::KeyPart& part : rule.key) {
    expected += (expected.empty() ? "" : "&") + part.name + "=...";
  }
  return "; expected " + in_double_quotes(expected);
}

// As requests have it under this rule; the rule may have been another when the override was set.
std::string canonical_subject(const rules::Rule& rule, const std::string& subject) {
  return subject.empty() ? subject : rules::Ruleset::limit_key(rule, 0, subject).subject;
}

bool is_same_check(const LimitAnswer& a, const LimitAnswer& b) {
  return a.matched.is_refund == b.matched.is_refund &&
         a.matched.check.quota == b.matched.check.quota &&
         a.matched.check.name == b.matched.check.name;
}

// One key under two quotas may now be under one: as Ruleset::match, no two are equal.
void merge_equal(std::vector<LimitAnswer>& limits) {
  for (std::size_t i = 1; i < limits.size(); ++i) {
    const auto end = limits.begin() + static_cast<std::ptrdiff_t>(i);
    const auto same = std::find_if(limits.begin(), end, [&](const LimitAnswer& other) {
      return is_same_check(other, limits[i]);
    });
    if (same == end) continue;
    Cost& cost = same->matched.check.cost;
    cost = core::plus(cost, limits[i].matched.check.cost);
    limits.erase(end);
    --i;
  }
}

}  // namespace

bool is_of_rule(const Override& set, const rules::Rule& rule) {
  const std::string name = rule.domain + "/" + rule.name;
  if (set.rule == name) return true;
  return std::any_of(rule.limits.begin(), rule.limits.end(), [&](const rules::RuleLimit& limit) {
    return !limit.name.empty() && set.rule == name + "/" + limit.name;
  });
}

Override named_override(const rules::Ruleset& rules, Override removed) {
  const Result<Target> target = find_target(rules, removed.rule);
  if (target && target->rule->key.empty() && removed.subject == kAllRequests) {
    removed.subject.clear();
  } else if (target) {
    removed.subject = canonical_subject(*target->rule, removed.subject);
  }
  return removed;
}

Result<Override> checked_override(const rules::Ruleset& rules, Override set) {
  const Result<Target> target = find_target(rules, set.rule);
  if (!target) return target.error();
  const rules::Rule& rule = *target->rule;
  set = named_override(rules, std::move(set));
  if (rule.limits.empty()) {
    return invalid_override("rule: " + in_double_quotes(set.rule) + " sets no limit");
  }
  if (!set.subject.empty() && !rules::Ruleset::is_subject_of(rule, set.subject)) {
    return invalid_override("subject: " + in_double_quotes(set.subject) + " is no key of rule " +
                            in_double_quotes(set.rule) + expected_subject(rule));
  }
  Result<void> checked;
  if (set.effect == Override::Effect::Limit) checked = check_limit(*target, set);
  if (set.effect == Override::Effect::Multiply) checked = check_factor(*target, set);
  if (!checked) return checked.error();
  return set;
}

Overrides::Overrides(const LiveOverrides::List& list, const rules::Ruleset& rules) {
  for (const std::shared_ptr<const Override>& each : list) {
    const Result<Target> target = find_target(rules, each->rule);
    if (!target || target->rule->limits.empty()) continue;
    Entry entry{.from = each, .limit = target->limit};
    if (each->effect == Override::Effect::Limit) {
      if (!target->limit && target->rule->limits.size() > 1) continue;  // the rule was changed
      const Result<Quota> quota =
          quota_of(each->value, target->rule->limits[target->limit.value_or(0)].quota.algorithm());
      if (!quota) continue;
      entry.quota = *quota;
    } else if (each->effect == Override::Effect::Multiply) {
      const Result<Decimal> factor = factor_of(each->value);
      if (!factor) continue;
      entry.factor = *factor;
    }
    OfSubject& entries =
        rules_[target->rule->index][canonical_subject(*target->rule, each->subject)];
    entries.insert(entry.limit ? entries.begin() : entries.end(), std::move(entry));
  }
}

const Overrides::Entry* Overrides::find(const OfRule& rule, std::string_view subject,
                                        std::size_t limit, Instant now) {
  const auto entries = rule.find(subject);
  if (entries == rule.end()) return nullptr;
  for (const Entry& entry : entries->second) {
    if (entry.from->expires_at > now && (!entry.limit || *entry.limit == limit)) return &entry;
  }
  return nullptr;
}

bool Overrides::is_in_shadow(const rules::Rule& rule, const Clock& clock) const {
  const auto of_rule = rules_.find(rule.index);
  if (of_rule == rules_.end()) return false;
  const auto entries = of_rule->second.find(std::string_view{});
  if (entries == of_rule->second.end()) return false;
  const Instant now = clock.now();
  return std::any_of(entries->second.begin(), entries->second.end(), [&](const Entry& entry) {
    return !entry.limit && entry.from->effect == Override::Effect::Shadow &&
           entry.from->expires_at > now;
  });
}

void Overrides::apply(const Entry& entry, LimitAnswer& limit) {
  core::NamedCheck& check = limit.matched.check;
  switch (entry.from->effect) {
    case Override::Effect::Shadow: limit.matched.shadow = true; break;
    case Override::Effect::Limit:
      check.quota = *entry.quota;
      if (!can_keep(check.terms, check.quota)) check.terms = {};  // the rule was changed
      break;
    case Override::Effect::Multiply: {
      const Result<Quota> product = core::multiplied(check.quota, entry.factor);
      if (!product) return;  // of a quota that was not known when the override was set
      check.quota = *product;
      break;
    }
  }
  limit.overridden_by = entry.from;
}

void Overrides::apply(std::vector<LimitAnswer>& limits, const Clock& clock) const {
  std::optional<Instant> now;
  bool changed = false;
  for (LimitAnswer& limit : limits) {
    const rules::MatchedLimit& matched = limit.matched;
    if (matched.rule == nullptr) continue;  // it came with the request
    const auto rule = rules_.find(matched.rule->index);
    if (rule == rules_.end()) continue;
    if (!now) now = clock.now();
    const std::string& subject = matched.check.name.subject;
    const Entry* entry = find(rule->second, subject, matched.limit, *now);
    if (entry == nullptr) entry = find(rule->second, {}, matched.limit, *now);
    if (entry == nullptr) continue;
    apply(*entry, limit);
    changed = true;
  }
  if (changed && limits.size() > 1) merge_equal(limits);
}

}  // namespace penstock::service
