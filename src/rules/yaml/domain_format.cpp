#include "rules/yaml/domain_format.hpp"

#include "rules/match/attribute_matcher.hpp"
#include "rules/yaml/rule_keys.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace penstock::rules {
namespace {

struct AttributeYaml {
  std::size_t slot;
  YamlNode key;
};

// A lookup may only depend on lookups above it, so that one pass resolves all.
std::vector<AttributeYaml> read_attributes(const YamlNode& section, DomainDraft& draft,
                                           LoadState& state) {
  std::vector<AttributeYaml> written;
  const std::vector<YamlEntry> entries = section.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, value] = entries[i];
    const YamlFields fields(value, keys::kAttribute);
    const auto map_name = fields.require("map");
    const auto by = fields.require("by");
    const auto by_name = by ? by->text() : std::nullopt;
    DerivedAttribute derived;
    if (const auto node = fields.find("default")) {
      if (const auto text = node->text()) derived.fallback = *text;
    }
    if (map_name) derived.map = state.maps.find(*map_name);
    if (!by_name) continue;
    const bool is_ahead =
        std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(i), entries.end(),
                    [&](const YamlEntry& later) { return later.key.raw() == *by_name; });
    if (is_ahead) {
      by->error("by: " + quote_value(*by_name) + " must be an attribute above this one");
    }
    draft.mentions.push_back(*by);
    derived.slot = draft.slot(key.raw());
    derived.by = draft.slot(*by_name);
    written.push_back({.slot = derived.slot, .key = key});
    if (derived.map != nullptr) draft.domain.derived.push_back(std::move(derived));
  }
  return written;
}

void note(const ValueSource& source, std::vector<bool>& used) {
  if (source.from == ValueSource::From::Attribute) used[source.number] = true;
}

void warn_of_unused(const std::vector<AttributeYaml>& written, const AttributeDomain& domain) {
  std::vector<bool> used(domain.uses.size());
  for (const DerivedAttribute& derived : domain.derived) used[derived.by] = true;
  for (const AttributeRule& rule : domain.rules) {
    for (const Condition& condition : rule.conditions) used[condition.slot] = true;
    for (const KeySource& key : rule.key) note(key.value, used);
    if (rule.cost.attribute) note(*rule.cost.attribute, used);
    if (rule.overrides) note(rule.overrides->by, used);
  }
  for (const AttributeYaml& attribute : written) {
    if (used[attribute.slot]) continue;
    attribute.key.warning("attribute " + quote_value(attribute.key.raw(), '\'') +
                          " is used by no rule of this domain");
  }
}

void note_attributes(const YamlNode& name, const YamlFields& fields,
                     const std::vector<AttributeYaml>& looked_up, DomainDraft& draft,
                     LoadState& state) {
  DomainAttributes all{.domain = draft.domain.name,
                       .name = name,
                       .mentions = std::move(draft.mentions),
                       .captures = std::move(draft.captures)};
  for (const AttributeYaml& each : looked_up) all.looked_up.emplace_back(each.key.raw());
  if (const auto declared = fields.find("caller_attributes")) {
    all.has_caller_attributes = true;
    for (const YamlNode& node : declared->one_or_list()) {
      if (const auto text = node.text()) all.declared.emplace_back(*text);
    }
  }
  state.attributes.push_back(std::move(all));
}

void load_domain(const YamlEntry& entry, LoadState& state) {
  const std::string name(entry.key.raw());
  if (const Source* other = state.builder.claim_domain(name, source_of(entry.key))) {
    return entry.key.error("domain " + quote_value(name, '\'') + " a second time; first in " +
                           to_string(*other));
  }
  const YamlFields fields(entry.value, keys::kDomain);
  DomainDraft draft;
  draft.domain.name = name;
  for (const DomainReference& reference : state.references) {
    if (reference.domain == name && draft.folding.empty()) draft.folding = reference.folding;
  }
  std::vector<AttributeYaml> attributes;
  if (const auto section = fields.find("attributes")) {
    attributes = read_attributes(*section, draft, state);
  }
  read_rules(fields, draft, state);
  if (draft.domain.uses.size() > DomainDraft::kMaxAttributes) {
    entry.key.error("domain " + quote_value(name, '\'') + " mentions more than " +
                    std::to_string(DomainDraft::kMaxAttributes) + " attributes");
  }
  if (entry.value.is_map() && draft.domain.rules.empty() && !has_error(entry.key.diagnostics())) {
    entry.key.warning("domain " + quote_value(name, '\'') + " has no rules: all its requests pass");
  }
  warn_of_unused(attributes, draft.domain);
  warn_of_requests_without_key(draft);
  note_attributes(entry.key, fields, attributes, draft, state);
  for (MapUse& use : map_uses_of(draft.domain)) state.map_uses.push_back(std::move(use));
  state.builder.add_domain(name, std::make_unique<AttributeMatcher>(std::move(draft.domain)));
}

}  // namespace

void load_domains(const YamlNode& section, LoadState& state) {
  for (const YamlEntry& entry : section.entries()) load_domain(entry, state);
}

}  // namespace penstock::rules
