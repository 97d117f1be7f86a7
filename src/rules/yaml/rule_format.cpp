#include "rules/model/limit_keys.hpp"
#include "rules/yaml/domain_format.hpp"
#include "rules/yaml/limit_format.hpp"
#include "rules/yaml/rollout_format.hpp"
#include "rules/yaml/rule_keys.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {
namespace {

constexpr std::int64_t kMaxCost = 1'000'000'000;
constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxKeyParts = 16;
constexpr unsigned kSubscriber = 64;  // bits of an IPv6 address that one subscriber shares

// A domain's defaults for its rules.
struct RuleDefaults {
  QuotaDefaults quota{};
  OnFailure on_failure = OnFailure::Open;
  core::SharingTerms terms{};
  IfMissing if_missing = IfMissing::Skip;
  bool has_if_missing = false;
  bool shadow = false;
  bool count_denied = false;
  unsigned ipv4_prefix = 32;
  unsigned ipv6_prefix = 64;
};

// Reads the keys that both a domain and a rule have.
void read_rule_defaults(const YamlFields& fields, RuleDefaults& defaults) {
  read_quota_defaults(fields, defaults.quota);
  read_on_failure(fields, defaults.on_failure);
  read_terms(fields, defaults.terms);
  if (const auto node = fields.find("if_missing")) {
    const auto chosen = node->choice<IfMissing>({{"skip", IfMissing::Skip},
                                                 {"deny", IfMissing::Deny},
                                                 {"count_as_one", IfMissing::CountAsOne}});
    if (chosen) defaults.if_missing = *chosen;
    defaults.has_if_missing = true;
  }
  fields.read_boolean("shadow", defaults.shadow);
  fields.read_boolean("count_denied", defaults.count_denied);
  fields.read_number("ipv4_prefix", 1, 32, defaults.ipv4_prefix);
  fields.read_number("ipv6_prefix", 1, 128, defaults.ipv6_prefix);
  if (const auto node = fields.find("ipv6_prefix"); node && defaults.ipv6_prefix > kSubscriber) {
    node->warning("ipv6_prefix: " + std::to_string(defaults.ipv6_prefix) +
                  " limits nothing: one subscriber has a /64, and so a new address for every "
                  "request; use 64 or less");
  }
}

// Reads one rule, or one entry of the deny and allow lists. A rule with an invalid name is checked
// for mistakes and not kept.
class RuleReader {
 public:
  RuleReader(const YamlNode& node, std::span<const std::string_view> keys, DomainDraft& draft,
             LoadState& state)
      : node_(node), fields_(node, keys), draft_(draft), state_(state) {}

  void read_list_entry(Action action) {
    if (!node_.is_map()) return;
    const bool named = read_name();
    read_when(fields_.require("when"));
    rule_.action = action;
    if (named) keep({.rule = node_});
  }

  void read_rule(RuleDefaults defaults) {
    if (!node_.is_map()) return;
    const bool named = read_name();
    read_when(fields_.find("when"));
    read_rule_defaults(fields_, defaults);
    rule_.on_failure = defaults.on_failure;
    rule_.if_missing = defaults.if_missing;
    rule_.shadow = defaults.shadow;
    rule_.count_denied = defaults.count_denied;
    read_amounts(defaults.quota);
    if (!rule_.limits.empty()) {
      rule_.terms = checked_terms(fields_, rule_.name, defaults.terms, rule_.limits);
    }
    read_key(defaults);
    read_cost();
    read_overrides();
    read_rollout(fields_, rule_);
    if (!named) return;
    keep({.rule = node_, .key = fields_.find("key"), .has_if_missing = defaults.has_if_missing});
  }

 private:
  // Name, description and position. False when the name is invalid.
  bool read_name() {
    const auto node = fields_.require("name");
    const auto name = node ? node->text() : std::nullopt;
    if (!name) return false;
    if (name->size() > kMaxName) {
      node->error("name: longer than " + std::to_string(kMaxName) + " characters");
      return false;
    }
    const auto [first, is_new] =
        draft_.rule_lines.try_emplace(std::string(*name), node->position().line);
    if (!is_new) {
      node->error("name: " + quote_value(*name) + " is taken in this domain, by the rule in line " +
                  std::to_string(first->second));
      return false;
    }
    rule_.domain = draft_.domain.name;
    rule_.name = *name;
    rule_.given_name = *name;
    rule_.source = source_of(node_);
    fields_.read_text("description", rule_.description);
    return true;
  }

  void read_when(const std::optional<YamlNode>& when) {
    if (when) compiled_.conditions = read_conditions(*when, draft_, captures_);
  }

  void read_amounts(const QuotaDefaults& defaults) {
    const auto limit = fields_.find("limit");
    const auto limits = fields_.find("limits");
    const auto unlimited = fields_.find("unlimited");
    const bool is_unlimited = unlimited && unlimited->boolean().value_or(true);
    const int given = (limit ? 1 : 0) + (limits ? 1 : 0) + (is_unlimited ? 1 : 0);
    if (given != 1) {
      node_.error(given == 0 ? "a rule needs a limit: limit, limits or unlimited: true"
                             : "a rule has one of limit, limits and unlimited: true");
    }
    if (is_unlimited) {
      rule_.action = Action::Unlimited;
      for (const std::string_view key :
           {"burst", "cost", "overrides", "shadow", "count_denied", "if_missing", "mode",
            "lease_lifetime", "share", "enforce", "abort", "near_limit"}) {
        if (const auto node = fields_.find(key)) {
          node->warning(std::string(key) + " means nothing for a rule without a limit");
        }
      }
    }
    if (limit) {
      if (const auto quota = read_quota(*limit, defaults)) {
        rule_.limits.push_back({.name = {}, .quota = *quota});
      }
    }
    if (limits) rule_.limits = read_limits(*limits, defaults);
  }

  // Where the attribute or capture of this name comes from. REQUIRES: the node is a text.
  ValueSource source(const YamlNode& name) {
    const auto place = std::find(captures_.begin(), captures_.end(), name.raw());
    if (place != captures_.end()) {
      return {.from = ValueSource::From::Capture,
              .number = static_cast<std::size_t>(place - captures_.begin())};
    }
    draft_.mentions.push_back(name);
    return {.from = ValueSource::From::Attribute, .number = draft_.slot(name.raw())};
  }

  void read_key(const RuleDefaults& defaults) {
    const auto key = fields_.find("key");
    if (!key) return;
    for (const YamlNode& node : key->one_or_list()) {
      const auto name = node.text();
      if (!name) continue;
      const bool is_double = std::any_of(rule_.key.begin(), rule_.key.end(),
                                         [&](const KeyPart& part) { return part.name == *name; });
      if (is_double || rule_.key.size() == kMaxKeyParts) {
        node.error(is_double ? "key: " + quote_value(*name) + " a second time"
                             : "key: more than " + std::to_string(kMaxKeyParts) + " attributes");
        continue;
      }
      KeyPart part{.name = std::string(*name)};
      const ValueSource from = source(node);
      if (*name == "client_ip") {
        part.ipv4_prefix = defaults.ipv4_prefix;
        part.ipv6_prefix = defaults.ipv6_prefix;
        if (from.from == ValueSource::From::Attribute) {
          draft_.use(from.number, {.as_address = true});
        }
      }
      std::string prefix;
      append_subject(prefix, *name, "");
      compiled_.key.push_back({.part = part, .value = from, .prefix = std::move(prefix)});
      rule_.key.push_back(std::move(part));
    }
  }

  void read_cost() {
    const auto cost = fields_.find("cost");
    if (!cost) return;
    if (!cost->is_map()) return fields_.read_number("cost", 1, kMaxCost, compiled_.cost.units);
    const YamlFields parts(*cost, keys::kCost);
    parts.read_number("default", 0, kMaxCost, compiled_.cost.units);
    const auto attribute = parts.require("attribute");
    if (attribute && attribute->text()) compiled_.cost.attribute = source(*attribute);
  }

  void read_overrides() {
    const auto section = fields_.find("overrides");
    if (!section) return;
    const YamlFields parts(*section, keys::kOverrides);
    const auto map_name = parts.require("map");
    const auto by = parts.require("by");
    const bool has_attribute = by && by->text();
    const auto map = map_name ? state_.maps.find(*map_name) : nullptr;
    if (fields_.find("limits")) {
      return section->error("overrides: they stand for one limit; this rule has limits");
    }
    if (map == nullptr || !has_attribute || rule_.limits.empty()) return;
    const Algorithm algorithm = rule_.limits.front().quota.algorithm();
    compiled_.overrides =
        Overrides{.by = source(*by), .quotas = state_.overrides.of(map, algorithm, *section)};
    check_overrides(*compiled_.overrides->quotas, *section, rule_.terms);
  }

  void keep(const RuleYaml& written) {
    const Rule& kept = state_.builder.add_rule(std::move(rule_));
    compiled_.rule = &kept;
    for (const RuleLimit& limit : kept.limits) {
      compiled_.limit_names.push_back(limit_name(kept.domain, kept.name, limit.name));
    }
    draft_.domain.rules.push_back(std::move(compiled_));
    draft_.written.push_back(written);
  }

  const YamlNode& node_;
  YamlFields fields_;
  DomainDraft& draft_;
  LoadState& state_;
  std::vector<std::string> captures_{};
  AttributeRule compiled_{};
  Rule rule_{.domain = {}, .name = {}};
};

}  // namespace

void read_rules(const YamlFields& domain, DomainDraft& draft, LoadState& state) {
  const auto read_list = [&](std::string_view key, Action action) {
    const auto list = domain.find(key);
    if (!list) return;
    for (const YamlNode& node : list->list()) {
      RuleReader(node, keys::kListEntry, draft, state).read_list_entry(action);
    }
  };
  RuleDefaults defaults;
  read_rule_defaults(domain, defaults);
  read_list("deny", Action::Deny);
  read_list("allow", Action::Allow);
  if (const auto rules = domain.find("rules")) {
    for (const YamlNode& node : rules->list()) {
      RuleReader(node, keys::kRule, draft, state).read_rule(defaults);
    }
  }
}

}  // namespace penstock::rules
