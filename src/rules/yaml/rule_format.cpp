#include "rules/yaml/rule_format.hpp"

#include "rules/model/limit_keys.hpp"
#include "rules/yaml/rule_keys.hpp"
#include "rules/yaml/scalar_fields.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {
namespace {

constexpr std::int64_t kMaxCost = 1'000'000'000;
constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxKeyParts = 16;
constexpr unsigned kSubscriber = 64;  // bits of an IPv6 address that one subscriber shares

}  // namespace

void read_rule_defaults(const YamlFields& fields, RuleDefaults& defaults) {
  read_quota_defaults(fields, defaults.quota);
  if (const auto node = fields.find("on_failure")) {
    const auto chosen = node->choice<OnFailure>(
        {{"open", OnFailure::Open}, {"closed", OnFailure::Closed}, {"local", OnFailure::Local}});
    if (chosen) defaults.on_failure = *chosen;
  }
  read_terms(terms_yaml(fields), defaults.terms);
  if (const auto node = fields.find("if_missing")) {
    const auto chosen = node->choice<IfMissing>({{"skip", IfMissing::Skip},
                                                 {"deny", IfMissing::Deny},
                                                 {"count_as_one", IfMissing::CountAsOne}});
    if (chosen) defaults.if_missing = *chosen;
    defaults.has_if_missing = true;
  }
  read_boolean(fields, "shadow", defaults.shadow);
  read_boolean(fields, "count_denied", defaults.count_denied);
  read_number(fields, "ipv4_prefix", 1, 32, defaults.ipv4_prefix);
  read_number(fields, "ipv6_prefix", 1, 128, defaults.ipv6_prefix);
  if (const auto node = fields.find("ipv6_prefix"); node && defaults.ipv6_prefix > kSubscriber) {
    node->warning("ipv6_prefix: " + std::to_string(defaults.ipv6_prefix) +
                  " limits nothing: one subscriber has a /64, and so a new address for every "
                  "request; use 64 or less");
  }
}

std::optional<Rule> RuleReader::begin(const YamlFields& fields) {
  const auto node = fields.require("name");
  const auto name = node ? node->text() : std::nullopt;
  if (!name) return std::nullopt;
  if (name->size() > kMaxName) {
    node->error("name: longer than " + std::to_string(kMaxName) + " characters");
    return std::nullopt;
  }
  const auto [first, is_new] = lines_.try_emplace(std::string(*name), node->position().line);
  if (!is_new) {
    node->error("name: " + quote_value(*name) + " is taken in this domain, by the rule in line " +
                std::to_string(first->second));
    return std::nullopt;
  }
  Rule rule{.domain = draft_.domain.name,
            .name = std::string(*name),
            .given_name = std::string(*name),
            .source = source_of(fields.map())};
  read_text(fields, "description", rule.description);
  return rule;
}

void RuleReader::read_list_entry(const YamlNode& node, Action action) {
  const YamlFields fields(node, keys::kListEntry);
  if (!node.is_map()) return;
  AttributeRule compiled;
  std::optional<Rule> rule = begin(fields);
  std::vector<std::string> captures;
  if (const auto when = fields.require("when")) {
    compiled.conditions = read_conditions(*when, draft_, captures);
  }
  if (!rule) return;
  rule->action = action;
  finish(std::move(*rule), std::move(compiled), {.rule = node});
}

void RuleReader::read_rule(const YamlNode& node, RuleDefaults defaults) {
  const YamlFields fields(node, keys::kRule);
  if (!node.is_map()) return;
  AttributeRule compiled;
  std::vector<std::string> captures;
  std::optional<Rule> named = begin(fields);
  Rule rule = named.value_or(Rule{.domain = {}, .name = {}});
  if (const auto when = fields.find("when")) {
    compiled.conditions = read_conditions(*when, draft_, captures);
  }
  read_rule_defaults(fields, defaults);
  rule.on_failure = defaults.on_failure;
  rule.if_missing = defaults.if_missing;
  rule.shadow = defaults.shadow;
  rule.count_denied = defaults.count_denied;
  read_amounts(fields, defaults, rule);
  if (!rule.limits.empty()) {
    const TermsYaml written = terms_yaml(fields);
    rule.terms = checked_terms({.written = written, .rule = node, .name = rule.name},
                               defaults.terms, rule.limits);
  }
  read_key(fields, defaults, captures, compiled, rule);
  read_cost(fields, captures, compiled);
  read_overrides(fields, captures, rule, compiled);
  if (!named) return;
  finish(std::move(rule), std::move(compiled),
         {.rule = node, .key = fields.find("key"), .has_if_missing = defaults.has_if_missing});
}

void RuleReader::read_amounts(const YamlFields& fields, const RuleDefaults& defaults, Rule& rule) {
  const auto limit = fields.find("limit");
  const auto limits = fields.find("limits");
  const auto unlimited = fields.find("unlimited");
  const bool is_unlimited = unlimited && unlimited->boolean().value_or(true);
  const int given = (limit ? 1 : 0) + (limits ? 1 : 0) + (is_unlimited ? 1 : 0);
  if (given != 1) {
    fields.map().error(given == 0 ? "a rule needs a limit: limit, limits or unlimited: true"
                                  : "a rule has one of limit, limits and unlimited: true");
  }
  if (is_unlimited) {
    rule.action = Action::Unlimited;
    for (const std::string_view key : {"burst", "cost", "overrides", "shadow", "count_denied",
                                       "if_missing", "mode", "lease_lifetime", "share"}) {
      if (const auto node = fields.find(key)) {
        node->warning(std::string(key) + " means nothing for a rule without a limit");
      }
    }
  }
  if (limit) {
    if (const auto quota = read_quota(*limit, defaults.quota)) {
      rule.limits.push_back({.name = {}, .quota = *quota});
    }
  }
  if (limits) rule.limits = read_limits(*limits, defaults.quota);
}

ValueSource RuleReader::source(const YamlNode& name, const std::vector<std::string>& captures) {
  const auto place = std::find(captures.begin(), captures.end(), name.raw());
  if (place != captures.end()) {
    return {.from = ValueSource::From::Capture,
            .number = static_cast<std::size_t>(place - captures.begin())};
  }
  draft_.mentions.push_back(name);
  return {.from = ValueSource::From::Attribute, .number = draft_.slot(name.raw())};
}

void RuleReader::read_key(const YamlFields& fields, const RuleDefaults& defaults,
                          const std::vector<std::string>& captures, AttributeRule& compiled,
                          Rule& rule) {
  const auto key = fields.find("key");
  if (!key) return;
  for (const YamlNode& node : key->one_or_list()) {
    const auto name = node.text();
    if (!name) continue;
    const bool is_double = std::any_of(rule.key.begin(), rule.key.end(),
                                       [&](const KeyPart& part) { return part.name == *name; });
    if (is_double || rule.key.size() == kMaxKeyParts) {
      node.error(is_double ? "key: " + quote_value(*name) + " a second time"
                           : "key: more than " + std::to_string(kMaxKeyParts) + " attributes");
      continue;
    }
    KeyPart part{.name = std::string(*name)};
    const ValueSource from = source(node, captures);
    if (*name == "client_ip") {
      part.ipv4_prefix = defaults.ipv4_prefix;
      part.ipv6_prefix = defaults.ipv6_prefix;
      if (from.from == ValueSource::From::Attribute) draft_.use(from.number, {.as_address = true});
    }
    std::string prefix;
    append_subject(prefix, *name, "");
    compiled.key.push_back({.part = part, .value = from, .prefix = std::move(prefix)});
    rule.key.push_back(std::move(part));
  }
}

void RuleReader::read_cost(const YamlFields& fields, const std::vector<std::string>& captures,
                           AttributeRule& compiled) {
  const auto cost = fields.find("cost");
  if (!cost) return;
  if (!cost->is_map()) {
    if (const auto units = cost->integer(1, kMaxCost)) {
      compiled.cost.units = static_cast<std::uint64_t>(*units);
    }
    return;
  }
  const YamlFields parts(*cost, keys::kCost);
  read_number(parts, "default", 0, kMaxCost, compiled.cost.units);
  const auto attribute = parts.require("attribute");
  const auto name = attribute ? attribute->text() : std::nullopt;
  if (name) compiled.cost.attribute = source(*attribute, captures);
}

void RuleReader::read_overrides(const YamlFields& fields, const std::vector<std::string>& captures,
                                const Rule& rule, AttributeRule& compiled) {
  const auto section = fields.find("overrides");
  if (!section) return;
  const YamlFields parts(*section, keys::kOverrides);
  const auto map_name = parts.require("map");
  const auto by = parts.require("by");
  const auto attribute = by ? by->text() : std::nullopt;
  const auto map = map_name ? state_.maps.find(*map_name) : nullptr;
  if (fields.find("limits")) {
    return section->error("overrides: they stand for one limit; this rule has limits");
  }
  if (map == nullptr || !attribute || rule.limits.empty()) return;
  const Algorithm algorithm = rule.limits.front().quota.algorithm();
  compiled.overrides = Overrides{.by = source(*by, captures),
                                 .quotas = state_.overrides.of(map, algorithm, *section)};
  check_overrides(*compiled.overrides->quotas, *section, rule.terms);
}

void RuleReader::finish(Rule rule, AttributeRule compiled, RuleYaml written) {
  const Rule& kept = state_.builder.add_rule(std::move(rule));
  compiled.rule = &kept;
  for (const RuleLimit& limit : kept.limits) {
    compiled.limit_names.push_back(limit_name(kept.domain, kept.name, limit.name));
  }
  draft_.domain.rules.push_back(std::move(compiled));
  draft_.written.push_back(std::move(written));
}

}  // namespace penstock::rules
