#include "base/text.hpp"
#include "rules/model/known_attributes.hpp"
#include "rules/yaml/diagnostic.hpp"
#include "rules/yaml/domain_format.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace penstock::rules {
namespace {

using NameSet = std::set<std::string, std::less<>>;

bool is_header(std::string_view name) { return name.starts_with(kHeaderPrefix); }
std::string_view header_of(std::string_view name) { return name.substr(kHeaderPrefix.size()); }

// RFC 9110, in lower case.
bool is_header_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// The header that provides "api_key" or "user_agent"; empty when there is none.
std::string header_for(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  for (const std::string& header : {dashed, "x-" + dashed}) {
    const bool is_common =
        std::find(kCommonHeaders.begin(), kCommonHeaders.end(), header) != kCommonHeaders.end();
    if (is_common) return std::string(kHeaderPrefix) + header;
  }
  return {};
}

// The attributes that a domain uses.
class AttributeCheck {
 public:
  // `listener` uses the domain and provides HTTP attributes only; empty when callers may send any.
  AttributeCheck(const DomainAttributes& domain, std::string_view listener,
                 const NameSet& descriptors)
      : domain_(domain), listener_(listener) {
    known_.insert(kHttpAttributes.begin(), kHttpAttributes.end());
    known_.insert(domain.looked_up.begin(), domain.looked_up.end());
    known_.insert(domain.declared.begin(), domain.declared.end());
    known_.insert(descriptors.begin(), descriptors.end());
    if (listener.empty()) known_.insert(kCommonAttributes.begin(), kCommonAttributes.end());
    for (const YamlNode& mention : domain.mentions) ++mentions_[std::string(mention.raw())];
  }

  // Each name once.
  void run() {
    for (const YamlNode& mention : domain_.mentions) {
      const std::string name(mention.raw());
      if (!seen_.insert(name).second || known_.contains(name)) continue;
      const std::string problem = is_header(name) ? header_problem(name) : problem_of(name);
      if (!problem.empty()) mention.warning("attribute " + quote_value(name, '\'') + " " + problem);
    }
  }

 private:
  [[nodiscard]] std::string problem_of(const std::string& name) const {
    const std::string provided_by =
        listener_.empty()
            ? "is provided by no listener"
            : "is not provided by " + std::string(listener_) + ", which uses this domain";
    std::vector<std::string_view> candidates(known_.begin(), known_.end());
    candidates.insert(candidates.end(), domain_.captures.begin(), domain_.captures.end());
    const std::string header = header_for(name);
    const std::string_view meant = header.empty() ? closest_word(name, candidates) : header;
    if (!meant.empty()) return provided_by + did_you_mean(meant);
    return provided_by + "; if callers send it, list it under caller_attributes";
  }

  // Clients may send any header, so only a name that resembles another is suspicious, unless the
  // domain declares caller_attributes.
  [[nodiscard]] std::string header_problem(const std::string& name) const {
    const std::string lower = base::lower_case(name);
    if (lower != name) return "never matches: header names are in lower case" + did_you_mean(lower);
    const std::string_view header = header_of(name);
    if (header.empty() || !std::all_of(header.begin(), header.end(), is_header_character)) {
      return "never matches: that is not the name of a header";
    }
    const auto is_in = [&](const auto& names) {
      return std::find(names.begin(), names.end(), header) != names.end();
    };
    if (is_in(kCommonHeaders) || is_in(kOtherHeaders)) return {};
    const std::string_view meant = closest_word(header, headers_besides(name), 1);
    if (!meant.empty()) {
      return "resembles another header" +
             did_you_mean(std::string(kHeaderPrefix) + std::string(meant));
    }
    return domain_.has_caller_attributes ? "is not in caller_attributes" : std::string{};
  }

  // Common headers, declared ones, and those that the domain uses more often, or first.
  [[nodiscard]] std::vector<std::string_view> headers_besides(const std::string& name) const {
    std::vector<std::string_view> headers(kCommonHeaders.begin(), kCommonHeaders.end());
    for (const std::string& declared : domain_.declared) {
      if (is_header(declared)) headers.push_back(header_of(declared));
    }
    for (const auto& [other, count] : mentions_) {
      if (!is_header(other) || other == name) continue;
      const std::size_t own = mentions_.at(name);
      if (count > own || (count == own && seen_.contains(other))) {
        headers.push_back(header_of(other));
      }
    }
    return headers;
  }

  const DomainAttributes& domain_;
  std::string_view listener_;
  NameSet known_;
  NameSet seen_;
  std::map<std::string, std::size_t, std::less<>> mentions_;
};

void warn_of_unknown_domains(const LoadState& state) {
  const std::vector<std::string> domains = state.builder.domains();
  const std::vector<std::string_view> candidates(domains.begin(), domains.end());
  for (const DomainReference& reference : state.references) {
    if (state.builder.has_domain(reference.domain)) continue;
    const std::string listener(reference.listener);
    const std::string result = state.builder.unknown_domain() == UnknownDomain::Deny
                                   ? "all requests to " + listener + " are denied"
                                   : listener + " limits nothing";
    reference.node.warning(std::string(reference.option) + ": no domain " +
                           quote_value(reference.domain, '\'') + ", so " + result +
                           suggestion(reference.domain, candidates));
  }
}

// The domain of requests that name none.
void warn_of_domains_like_default(const LoadState& state) {
  constexpr std::array<std::string_view, 1> kDefault{"default"};
  for (const DomainAttributes& domain : state.attributes) {
    if (domain.domain == kDefault.front() || state.builder.has_domain(kDefault.front())) continue;
    const std::string meant = suggestion(domain.domain, kDefault);
    if (!meant.empty() && domain.name) {
      domain.name->warning("domain " + quote_value(domain.domain, '\'') + " resembles the default" +
                           meant);
    }
  }
}

// Keys of all descriptors in files of Envoy's format.
NameSet keys_of_descriptors(const LoadState& state) {
  NameSet own;
  for (const DomainAttributes& domain : state.attributes) own.insert(domain.domain);
  NameSet keys;
  for (const auto& rule : state.builder.rules()) {
    if (own.contains(rule->domain)) continue;
    for (const KeyPart& part : rule->key) keys.insert(part.name);
  }
  return keys;
}

// A rule's condition on one attribute, in a form that is fast to compare: there may be ten thousand
// rules.
struct Asked {
  const Condition* condition;
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
    all.push_back({.condition = &condition,
                   .slot = condition.slot,
                   .test = describe(condition),
                   .holds_without = holds_without(condition)});
  }
  return all;
}

// What is known about a request that lacks an attribute: that one is missing, and the attributes
// that are looked up by it have their defaults.
class WithoutAttribute {
 public:
  WithoutAttribute(const AttributeDomain& domain, std::size_t missing)
      : missing_(missing), is_known_(domain.uses.size()), values_(domain.uses.size()) {
    is_known_[missing] = true;
    for (const DerivedAttribute& derived : domain.derived) {  // after those they are looked up by
      if (!is_known_[derived.by]) continue;
      is_known_[derived.slot] = true;
      if (const auto value = derived.value_for(values_[derived.by].value)) {
        set_slot_value(values_[derived.slot], *value, domain.uses[derived.slot]);
      }
    }
  }

  [[nodiscard]] std::size_t missing() const noexcept { return missing_; }
  // Whether the condition holds; empty when that depends on the request.
  [[nodiscard]] std::optional<bool> holds(const Condition& condition) const {
    if (condition.slot == missing_ || !is_known_[condition.slot]) return std::nullopt;
    Captures captures;
    return rules::holds(condition, values_, captures);
  }

 private:
  std::size_t missing_;
  std::vector<bool> is_known_;
  SlotValues values_;
};

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
      const WithoutAttribute request(domain_, key.value.number);
      const bool is_skipped = std::any_of(own->begin(), own->end(), [&](const Asked& asked) {
        return !request.holds(*asked.condition).value_or(true);
      });
      const bool has_companion =
          is_skipped ||  // the rule is for other requests
          std::any_of(companions_.begin(), companions_.end(),
                      [&](const auto& companion) { return covers(companion, *own, request); });
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
                     const WithoutAttribute& request) {
    return std::all_of(companion.begin(), companion.end(), [&](const Asked& asked) {
      if (asked.slot == request.missing()) return asked.holds_without;
      if (const std::optional<bool> holds = request.holds(*asked.condition)) return *holds;
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

std::string gap_warning(const std::string& attribute) {
  return "nothing limits requests without " + attribute + ": add a rule with when: {" + attribute +
         ": {present: false}}, or say what happens to them with if_missing: skip, deny or "
         "count_as_one";
}

}  // namespace

void warn_of_probable_mistakes(const LoadState& state) {
  warn_of_unknown_domains(state);
  warn_of_domains_like_default(state);
  const NameSet descriptors = keys_of_descriptors(state);
  for (const DomainAttributes& domain : state.attributes) {
    std::string_view listener;
    for (const DomainReference& reference : state.references) {
      if (reference.domain == domain.domain) listener = reference.listener;
    }
    AttributeCheck(domain, listener, descriptors).run();
  }
  if (state.in_flight_key) {
    const DomainAttributes gateway{.domain = {}, .mentions = {*state.in_flight_key}};
    AttributeCheck(gateway, "the gateway", {}).run();
  }
}

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
    key_place(written, gap->part.name).warning(gap_warning(gap->part.name));
  }
}

}  // namespace penstock::rules
