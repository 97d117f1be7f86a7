#include "rules/yaml/missing_key_warnings.hpp"

#include "rules/model/known_attributes.hpp"

#include <algorithm>
#include <optional>

namespace penstock::rules {
namespace {

// A rule's condition on one attribute, in a form that is fast to compare: there may be ten thousand
// rules.
struct Asked {
  std::size_t slot;
  std::string test;
  bool holds_without;  // the attribute

  friend bool operator==(const Asked& a, const Asked& b) {
    return a.slot == b.slot && a.test == b.test;
  }
};

bool holds_without(const Condition& condition) {
  const auto* present = std::get_if<Present>(&condition.test);
  if (present != nullptr) return !present->wanted;
  return std::holds_alternative<Not>(condition.test);
}

std::vector<Asked> asked_by(const AttributeRule& rule) {
  std::vector<Asked> all;
  for (const Condition& condition : rule.conditions) {
    all.push_back({.slot = condition.slot,
                   .test = describe(condition),
                   .holds_without = holds_without(condition)});
  }
  return all;
}

class CompanionSearch {
 public:
  explicit CompanionSearch(const AttributeDomain& domain)
      : domain_(domain), names_(domain.uses.size()) {
    for (const auto& [name, slot] : domain.slots) names_[slot] = name;
    for (const AttributeRule& rule : domain.rules) {
      if (limits_without_more(rule)) companions_.push_back(asked_by(rule));
    }
  }

  // The first attribute of the key without which a request is not limited; null when there is none.
  [[nodiscard]] const KeySource* first_gap(const AttributeRule& rule) const {
    std::optional<std::vector<Asked>> own;
    for (const KeySource& key : rule.key) {
      if (!may_lack(key.value)) continue;
      if (!own) own = asked_by(rule);
      const bool has_companion = std::any_of(
          companions_.begin(), companions_.end(),
          [&](const auto& companion) { return covers(companion, *own, key.value.number); });
      if (!has_companion) return &key;
    }
    return nullptr;
  }

 private:
  // Whether a client can send a request without this value. A captured value is present whenever
  // the pattern matches.
  [[nodiscard]] bool may_lack(const ValueSource& value) const {
    return value.from == ValueSource::From::Attribute && may_lack(value.number);
  }

  // Terminates: an attribute is looked up by one that was declared before.
  // NOLINTNEXTLINE(misc-no-recursion)
  [[nodiscard]] bool may_lack(std::size_t slot) const {
    for (const DerivedAttribute& derived : domain_.derived) {
      if (derived.slot == slot) return !derived.fallback && may_lack(derived.by);
    }
    const std::string& name = names_[slot];
    return name.starts_with(kHeaderPrefix) ||
           std::find(kClientSupplied.begin(), kClientSupplied.end(), name) != kClientSupplied.end();
  }

  // Whether the rule applies whenever its conditions hold.
  [[nodiscard]] bool limits_without_more(const AttributeRule& rule) const {
    if (rule.rule->shadow) return false;
    if (rule.rule->action == Action::Deny) return true;
    return rule.rule->action == Action::Limit &&
           (rule.rule->if_missing != IfMissing::Skip ||
            std::none_of(rule.key.begin(), rule.key.end(),
                         [&](const KeySource& key) { return may_lack(key.value); }));
  }

  // Whether the companion limits every request that a rule with the conditions `own` skips because
  // the attribute is missing.
  static bool covers(const std::vector<Asked>& companion, const std::vector<Asked>& own,
                     std::size_t missing) {
    return std::all_of(companion.begin(), companion.end(), [&](const Asked& asked) {
      if (asked.slot == missing) return asked.holds_without;
      return std::find(own.begin(), own.end(), asked) != own.end();
    });
  }

  const AttributeDomain& domain_;
  std::vector<std::string> names_;  // by slot
  std::vector<std::vector<Asked>> companions_;
};

YamlNode key_place(const RuleYaml& written, const std::string& attribute) {
  if (!written.key) return written.rule;
  for (const YamlNode& node : written.key->one_or_list()) {
    if (node.raw() == attribute) return node;
  }
  return *written.key;
}

}  // namespace

void warn_of_requests_without_key(const DomainDraft& draft) {
  const CompanionSearch search(draft.domain);
  for (std::size_t i = 0; i < draft.domain.rules.size(); ++i) {
    const AttributeRule& rule = draft.domain.rules[i];
    const RuleYaml& written = draft.written[i];
    if (rule.rule->action != Action::Limit || rule.rule->shadow || written.has_if_missing) {
      continue;
    }
    const KeySource* const gap = search.first_gap(rule);
    if (gap == nullptr) continue;
    const std::string& name = gap->part.name;
    key_place(written, name)
        .warning("nothing limits requests without " + name + ": add a rule with when: {" + name +
                 ": {present: false}}, or say what happens to them with if_missing: skip, deny or "
                 "count_as_one");
  }
}

}  // namespace penstock::rules
