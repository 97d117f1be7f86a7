#include "rules/match/attribute_matcher.hpp"

#include "base/in_place.hpp"
#include "rules/model/count_names.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {
namespace {

RuleIndex make_index(const std::vector<AttributeRule>& rules) {
  std::vector<const std::vector<Condition>*> conditions;
  conditions.reserve(rules.size());
  for (const AttributeRule& rule : rules) conditions.push_back(&rule.conditions);
  return RuleIndex(conditions);
}

Cost asked_cost(const Request& request, std::size_t number) {
  return request.descriptors[number].cost.value_or(request.cost);
}

// Denied wins over allowed, allowed over everything else.
void settle(const AttributeRule& rule, Said said, Match& match) {
  const bool is_denied = match.listed_by != nullptr && match.listed_by->action == Action::Deny;
  if (match.listed_by == nullptr || (said == Said::Denied && !is_denied)) {
    match.listed_by = rule.rule;
  }
}

const std::optional<Quota>* look_up(const Overrides& overrides,
                                    const std::optional<std::string_view>& by) {
  if (!by) return nullptr;
  const auto found = overrides.quotas->find(*by);
  return found == overrides.quotas->end() ? nullptr : &found->second;
}

// What a pattern of the rule captured, if it is counted by that: found again in the subject.
std::optional<std::string_view> captured_in(const Descriptor& subject, const AttributeRule& rule,
                                            std::size_t capture) {
  for (const KeySource& key : rule.key) {
    if (key.value.from != ValueSource::From::Capture || key.value.number != capture) continue;
    for (const Attribute& part : subject.entries) {
      if (part.name == key.part.name) return part.value;
    }
  }
  return std::nullopt;
}

std::string_view outcome(const Match& match, const Rule& rule) {
  if (match.missing_by != nullptr) return "would apply, but the request is denied";
  if (match.listed_by == nullptr || match.listed_by == &rule) return "applies";
  return match.listed_by->action == Action::Deny ? "would apply, but the request is denied"
                                                 : "would apply, but the request is allowed";
}

// What a rule says that matches: `missing` is the attribute of its key that the request lacks.
std::string report_of(const Match& match, const Rule& rule, std::string_view missing) {
  if (missing.empty()) return std::string(outcome(match, rule));
  const std::string absent = std::string(missing) + " is absent";
  if (rule.if_missing == IfMissing::CountAsOne) {
    return std::string(outcome(match, rule)) + "; " + absent +
           ": one count for all requests without it (if_missing: count_as_one)";
  }
  return (match.listed_by == nullptr ? "denies the request: " : "would deny the request: ") +
         absent + " (if_missing: deny)";
}

}  // namespace

AttributeMatcher::AttributeMatcher(AttributeDomain domain)
    : domain_(std::move(domain)), index_(make_index(domain_.rules)) {}

Facts AttributeMatcher::facts_of(const Descriptor& descriptor) const {
  Facts facts(domain_.uses.size());
  for (const Attribute& attribute : descriptor.entries) {
    const auto slot = domain_.slots.find(attribute.name);
    if (slot == domain_.slots.end() || facts[slot->second].value) continue;
    set_fact(facts[slot->second], attribute.value, domain_.uses[slot->second]);
  }
  for (const DerivedAttribute& derived : domain_.derived) {
    Fact& fact = facts[derived.slot];
    fact = {};
    const SlotUse use = domain_.uses[derived.slot];
    const std::optional<std::string_view>& by = facts[derived.by].value;
    const auto found = by ? derived.map->find(*by) : derived.map->end();
    if (found != derived.map->end()) {
      set_fact(fact, found->second, use);
    } else if (derived.fallback) {
      set_fact(fact, *derived.fallback, use);
    }
  }
  return facts;
}

void AttributeMatcher::match(const Request& request, Match& match) const {
  match.limits.reserve(request.descriptors.size());
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) match_one(request, i, match);
  if (match.listed_by != nullptr && match.missing_by != nullptr) {
    match.missing_by = nullptr;
    // Of an allow list: the request passes, and no descriptor says otherwise.
    if (match.listed_by->action == Action::Allow) {
      std::replace(match.descriptors.begin(), match.descriptors.end(), Said::Denied, Said::NoRule);
    }
  }
  if (match.listed_by != nullptr || match.missing_by != nullptr) match.limits.clear();
}

void AttributeMatcher::match_one(const Request& request, std::size_t number, Match& match) const {
  const Descriptor& descriptor = request.descriptors[number];
  const Facts facts = facts_of(descriptor);
  Numbers candidates;
  index_.find(facts, candidates);
  Said& said = match.descriptors[number];
  for (const std::uint32_t candidate : candidates) {
    const AttributeRule& rule = domain_.rules[candidate];
    const bool is_listed = rule.rule->action == Action::Deny || rule.rule->action == Action::Allow;
    if (!is_listed && descriptor.limit) break;
    const Said now = apply(rule, request, number, facts, match);
    if (now == Said::NoRule) continue;
    if (is_listed) {
      said = now;
      return settle(rule, now, match);
    }
    if (now == Said::Denied || (said != Said::Limited && said != Said::Denied)) said = now;
  }
  if (descriptor.limit) replace(request, number, match);
}

Said AttributeMatcher::apply(const AttributeRule& rule, const Request& request, std::size_t number,
                             const Facts& facts, Match& match) const {
  Captures captures;
  if (!all_hold(rule, facts, captures)) return Said::NoRule;
  switch (rule.rule->action) {
    case Action::Deny: return Said::Denied;
    case Action::Allow: return Said::Allowed;
    case Action::Unlimited: return Said::Unlimited;
    case Action::Limit: break;
  }
  std::optional<std::string> subject = subject_of(rule, facts, captures);
  if (!subject) {
    if (!denies_missing(rule) || request.descriptors[number].gives_back) return Said::NoRule;
    if (match.missing_by == nullptr) match.missing_by = rule.rule;
    return Said::Denied;
  }
  const std::optional<Quota>* const replaced =
      rule.overrides ? look_up(*rule.overrides, value_of(rule.overrides->by, facts, captures))
                     : nullptr;
  if (replaced != nullptr && !*replaced) return Said::Unlimited;
  const Cost cost = cost_of(rule.cost, asked_cost(request, number), facts, captures);
  const std::vector<RuleLimit>& limits = rule.rule->limits;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    std::string counted = i + 1 == limits.size() ? std::move(*subject) : *subject;
    match.limits.emplace_back(base::InPlace([&] {
      return Applied{
          .rule = rule.rule,
          .limit = i,
          .descriptor = number,
          .check = {.name = {.subject = std::move(counted), .limit = rule.limit_names[i]},
                    .quota = replaced != nullptr ? **replaced : limits[i].quota,
                    .cost = cost,
                    .terms = rule.rule->terms},
          .gives_back = request.descriptors[number].gives_back};
    }));
  }
  return Said::Limited;
}

void AttributeMatcher::replace(const Request& request, std::size_t number, Match& match) const {
  const Descriptor& descriptor = request.descriptors[number];
  std::string subject;
  for (const Attribute& entry : descriptor.entries) {
    append_subject(subject, entry.name, entry.value);
  }
  match.descriptors[number] = Said::Replaced;
  match.limits.push_back(
      {.rule = nullptr,
       .descriptor = number,
       .check = {.name = {.subject = std::move(subject),
                          .limit = travelling_limit_name(domain_.name, *descriptor.limit)},
                 .quota = *descriptor.limit,
                 .cost = asked_cost(request, number)},
       .gives_back = descriptor.gives_back});
}

void AttributeMatcher::explain(const Request& request, Explanation& explanation) const {
  match(request, explanation.match);
  const bool several = request.descriptors.size() > 1;
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    const Facts facts = facts_of(request.descriptors[i]);
    for (const AttributeRule& rule : domain_.rules) {
      if (explanation.rules.size() == kMaxReports) {
        explanation.cut_short = true;
        return;
      }
      std::string reason = refusal(rule, facts);
      const bool matched = reason.empty();
      if (matched) {
        reason = report_of(explanation.match, *rule.rule, missing_attribute(rule, facts));
      }
      if (several) reason = "descriptor " + std::to_string(i + 1) + ": " + reason;
      explanation.rules.push_back(
          {.rule = rule.rule, .matched = matched, .reason = std::move(reason)});
    }
  }
}

const std::optional<Quota>* AttributeMatcher::find_override(const Rule& rule,
                                                            const Descriptor& subject) const {
  const auto found = std::find_if(domain_.rules.begin(), domain_.rules.end(),
                                  [&](const AttributeRule& each) { return each.rule == &rule; });
  if (found == domain_.rules.end() || !found->overrides) return nullptr;
  const ValueSource& by = found->overrides->by;
  if (by.from == ValueSource::From::Capture) {
    return look_up(*found->overrides, captured_in(subject, *found, by.number));
  }
  return look_up(*found->overrides, facts_of(subject)[by.number].value);
}

std::size_t AttributeMatcher::count_candidates(const Descriptor& descriptor) const {
  Numbers candidates;
  index_.find(facts_of(descriptor), candidates);
  return candidates.size();
}

}  // namespace penstock::rules
