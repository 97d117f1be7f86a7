#include "rules/match/attribute_matcher.hpp"

#include "base/emplace_with.hpp"
#include "rules/model/limit_keys.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace penstock::rules {
namespace {

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

std::optional<std::string_view> value_of(const ValueSource& source, const SlotValues& slot_values,
                                         const Captures& captures) {
  if (source.from == ValueSource::From::Attribute) return slot_values[source.number].value;
  const std::string_view value = captures.values[source.number];
  return value.data() == nullptr ? std::nullopt : std::optional(value);
}

void append_value(std::string& subject, const KeySource& key, std::string_view value,
                  const SlotValues& slot_values) {
  if (!key.part.ipv6_prefix || !key.part.ipv4_prefix) return append_escaped_value(subject, value);
  const auto address = key.value.from == ValueSource::From::Attribute
                           ? slot_values[key.value.number].address
                           : base::IpAddress::parse(value);
  if (!address) return append_escaped_value(subject, value);
  address->network(address->is_v4() ? *key.part.ipv4_prefix : *key.part.ipv6_prefix)
      .append_to(subject);
}

Cost cost_of(const CostSource& source, Cost asked, const SlotValues& slot_values,
             const Captures& captures) {
  if (!source.attribute) return {product(source.units, asked.units)};
  const auto text = value_of(*source.attribute, slot_values, captures);
  std::uint64_t units = 0;
  if (!text) return {product(source.units, asked.units)};
  const char* const end = text->data() + text->size();
  const auto [stop, failure] = std::from_chars(text->data(), end, units);
  const bool is_number = stop == end && !text->empty();
  if (is_number && failure == std::errc::result_out_of_range) {
    units = std::numeric_limits<std::uint64_t>::max();
  } else if (!is_number || failure != std::errc{}) {
    units = source.units;
  }
  return {product(units, asked.units)};
}

// The key of the request under this rule. Empty when an attribute is missing, unless such requests
// count as one.
std::optional<std::string> subject_of(const AttributeRule& rule, const SlotValues& slot_values,
                                      const Captures& captures) {
  std::size_t length = 0;
  for (const KeySource& key : rule.key) {
    const auto value = value_of(key.value, slot_values, captures);
    if (!value && rule.rule->if_missing != IfMissing::CountAsOne) return std::nullopt;
    if (length > 0) ++length;
    length += key.prefix.size() + value.value_or("").size();
  }
  std::optional<std::string> subject(std::in_place);
  subject->reserve(length);
  for (const KeySource& key : rule.key) {
    if (!subject->empty()) *subject += '&';
    *subject += key.prefix;
    append_value(*subject, key, value_of(key.value, slot_values, captures).value_or(""),
                 slot_values);
  }
  return subject;
}

bool all_hold(const AttributeRule& rule, const SlotValues& slot_values, Captures& captures) {
  return std::all_of(rule.conditions.begin(), rule.conditions.end(),
                     [&](const Condition& one) { return holds(one, slot_values, captures); });
}

// Whether a request without an attribute of the key is denied. A shadow rule never denies, and one
// that is enforced for a share of its subjects has no subject here to choose by.
bool denies_missing(const Rule& rule, const Request& request) {
  if (rule.if_missing != IfMissing::Deny || rule.shadow) return false;
  if (rule.rollout && rule.rollout->enforce < kWhole) return false;
  const auto& in_shadow = request.in_shadow;
  return std::find(in_shadow.begin(), in_shadow.end(), &rule) == in_shadow.end();
}

// The first missing attribute of the key; empty when none is missing, or a condition does not hold.
std::string_view missing_attribute(const AttributeRule& rule, const SlotValues& slot_values) {
  Captures captures;
  if (!all_hold(rule, slot_values, captures)) return {};
  for (const KeySource& key : rule.key) {
    if (!value_of(key.value, slot_values, captures)) return key.part.name;
  }
  return {};
}

// Why the rule does not apply; empty when it does.
std::string mismatch_reason(const AttributeRule& rule, const Request& request,
                            const SlotValues& slot_values) {
  Captures captures;
  for (const Condition& condition : rule.conditions) {
    if (!holds(condition, slot_values, captures)) return mismatch_reason(condition, slot_values);
  }
  const Rule& itself = *rule.rule;
  if (denies_missing(itself, request) || itself.if_missing == IfMissing::CountAsOne) return {};
  const std::string_view missing = missing_attribute(rule, slot_values);
  if (missing.empty()) return {};
  return std::string(missing) + " is absent, which this rule counts by";
}

RuleIndex make_index(const std::vector<AttributeRule>& rules) {
  std::vector<const std::vector<Condition>*> conditions;
  conditions.reserve(rules.size());
  for (const AttributeRule& rule : rules) conditions.push_back(&rule.conditions);
  return RuleIndex(conditions);
}

// Denied wins over allowed, allowed over everything else.
void settle(const AttributeRule& rule, DescriptorOutcome said, Match& match) {
  const bool is_denied = match.list_entry != nullptr && match.list_entry->action == Action::Deny;
  if (match.list_entry == nullptr || (said == DescriptorOutcome::Denied && !is_denied)) {
    match.list_entry = rule.rule;
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
  if (match.missing_key_rule != nullptr) return "would apply, but the request is denied";
  if (match.list_entry == nullptr || match.list_entry == &rule) return "applies";
  return match.list_entry->action == Action::Deny ? "would apply, but the request is denied"
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
  return (match.list_entry == nullptr ? "denies the request: " : "would deny the request: ") +
         absent + " (if_missing: deny)";
}

// "; shadow mode for this subject (enforce: 10%)"; empty for a rule that is not rolled out.
std::string rollout_words(const Match& match, const Rule& rule, std::size_t descriptor) {
  if (!rule.rollout) return {};
  for (const MatchedLimit& limit : match.limits) {
    if (limit.rule != &rule || limit.descriptor != descriptor) continue;
    return std::string(limit.shadow ? "; shadow mode" : "; enforced") +
           " for this subject (enforce: " + percent_text(rule.rollout->enforce) + ")";
  }
  return {};
}

}  // namespace

AttributeMatcher::AttributeMatcher(AttributeDomain domain)
    : domain_(std::move(domain)), index_(make_index(domain_.rules)) {}

SlotValues AttributeMatcher::slot_values_of(const Descriptor& descriptor) const {
  SlotValues slot_values(domain_.uses.size());
  for (const Attribute& attribute : descriptor.entries) {
    const auto slot = domain_.slots.find(attribute.name);
    if (slot == domain_.slots.end() || slot_values[slot->second].value) continue;
    set_slot_value(slot_values[slot->second], attribute.value, domain_.uses[slot->second]);
  }
  for (const DerivedAttribute& derived : domain_.derived) {
    SlotValue& slot_value = slot_values[derived.slot];
    slot_value = {};
    if (const auto value = derived.value_for(slot_values[derived.by].value)) {
      set_slot_value(slot_value, *value, domain_.uses[derived.slot]);
    }
  }
  return slot_values;
}

void AttributeMatcher::match(const Request& request, Match& match) const {
  match.limits.reserve(request.descriptors.size());
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) match_one(request, i, match);
  if (match.list_entry != nullptr && match.missing_key_rule != nullptr) {
    match.missing_key_rule = nullptr;
    // Of an allow list: the request is allowed, whatever other descriptors match.
    if (match.list_entry->action == Action::Allow) {
      std::replace(match.descriptors.begin(), match.descriptors.end(), DescriptorOutcome::Denied,
                   DescriptorOutcome::NoRule);
    }
  }
  if (match.list_entry != nullptr || match.missing_key_rule != nullptr) match.limits.clear();
}

void AttributeMatcher::match_one(const Request& request, std::size_t number, Match& match) const {
  const Descriptor& descriptor = request.descriptors[number];
  const SlotValues slot_values = slot_values_of(descriptor);
  RuleNumbers candidates;
  index_.find(slot_values, candidates);
  DescriptorOutcome& said = match.descriptors[number];
  for (const std::uint32_t candidate : candidates) {
    const AttributeRule& rule = domain_.rules[candidate];
    const bool is_listed = rule.rule->action == Action::Deny || rule.rule->action == Action::Allow;
    if (!is_listed && descriptor.limit) break;
    const DescriptorOutcome now = apply(rule, request, number, slot_values, match);
    if (now == DescriptorOutcome::NoRule) continue;
    if (is_listed) {
      said = now;
      return settle(rule, now, match);
    }
    if (now == DescriptorOutcome::Denied ||
        (said != DescriptorOutcome::Limited && said != DescriptorOutcome::Denied)) {
      said = now;
    }
  }
  if (!descriptor.limit) return;
  said = DescriptorOutcome::Replaced;
  match.limits.push_back(limit_sent_with(request, number));
}

DescriptorOutcome AttributeMatcher::apply(const AttributeRule& rule, const Request& request,
                                          std::size_t number, const SlotValues& slot_values,
                                          Match& match) {
  Captures captures;
  if (!all_hold(rule, slot_values, captures)) return DescriptorOutcome::NoRule;
  switch (rule.rule->action) {
    case Action::Deny: return DescriptorOutcome::Denied;
    case Action::Allow: return DescriptorOutcome::Allowed;
    case Action::Unlimited: return DescriptorOutcome::Unlimited;
    case Action::Limit: break;
  }
  std::optional<std::string> subject = subject_of(rule, slot_values, captures);
  if (!subject) {
    if (!denies_missing(*rule.rule, request) || request.descriptors[number].is_refund) {
      return DescriptorOutcome::NoRule;
    }
    if (match.missing_key_rule == nullptr) match.missing_key_rule = rule.rule;
    return DescriptorOutcome::Denied;
  }
  const std::optional<Quota>* const replaced =
      rule.overrides ? look_up(*rule.overrides, value_of(rule.overrides->by, slot_values, captures))
                     : nullptr;
  if (replaced != nullptr && !*replaced) return DescriptorOutcome::Unlimited;
  const Descriptor& descriptor = request.descriptors[number];
  const Cost cost = cost_of(rule.cost, request.cost_of(descriptor), slot_values, captures);
  const bool is_shadow = rule.rule->rollout && !is_enforced_for(*rule.rule, *subject);
  const std::vector<RuleLimit>& limits = rule.rule->limits;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    std::string counted = i + 1 == limits.size() ? std::move(*subject) : *subject;
    match.limits.emplace_back(base::EmplaceWith([&] {
      return MatchedLimit{
          .rule = rule.rule,
          .limit = i,
          .descriptor = number,
          .check = {.name = {.subject = std::move(counted), .limit = rule.limit_names[i]},
                    .quota = replaced != nullptr ? **replaced : limits[i].quota,
                    .cost = cost,
                    .terms = rule.rule->terms},
          .is_refund = descriptor.is_refund,
          .shadow = is_shadow};
    }));
  }
  return DescriptorOutcome::Limited;
}

void AttributeMatcher::explain(const Request& request, Explanation& explanation) const {
  match(request, explanation.match);
  const bool several = request.descriptors.size() > 1;
  for (std::size_t i = 0; i < request.descriptors.size(); ++i) {
    const SlotValues slot_values = slot_values_of(request.descriptors[i]);
    for (const AttributeRule& rule : domain_.rules) {
      if (explanation.rules.size() == kMaxReports) {
        explanation.cut_short = true;
        return;
      }
      std::string reason = mismatch_reason(rule, request, slot_values);
      const bool matched = reason.empty();
      if (matched) {
        reason = report_of(explanation.match, *rule.rule, missing_attribute(rule, slot_values)) +
                 rollout_words(explanation.match, *rule.rule, i);
      }
      if (several) reason.insert(0, "descriptor " + std::to_string(i + 1) + ": ");
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
  return look_up(*found->overrides, slot_values_of(subject)[by.number].value);
}

std::optional<std::vector<std::string>> AttributeMatcher::attributes_of(const Rule& rule) const {
  const auto found = std::find_if(domain_.rules.begin(), domain_.rules.end(),
                                  [&](const AttributeRule& each) { return each.rule == &rule; });
  if (found == domain_.rules.end()) return std::nullopt;
  std::vector<bool> used(domain_.uses.size());
  const auto use = [&](const ValueSource& source) {
    if (source.from == ValueSource::From::Attribute) used[source.number] = true;
  };
  for (const Condition& condition : found->conditions) used[condition.slot] = true;
  for (const KeySource& key : found->key) use(key.value);
  if (found->cost.attribute) use(*found->cost.attribute);
  if (found->overrides) use(found->overrides->by);
  // from the last one: an attribute may be looked up by another that is looked up itself
  for (auto derived = domain_.derived.rbegin(); derived != domain_.derived.rend(); ++derived) {
    if (!used[derived->slot]) continue;
    used[derived->slot] = false;
    used[derived->by] = true;
  }
  std::vector<std::string> names;
  for (const auto& [name, slot] : domain_.slots) {
    if (used[slot]) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::size_t AttributeMatcher::count_candidates(const Descriptor& descriptor) const {
  RuleNumbers candidates;
  index_.find(slot_values_of(descriptor), candidates);
  return candidates.size();
}

}  // namespace penstock::rules
