#pragma once

#include "rules/yaml/condition_format.hpp"
#include "rules/yaml/load_state.hpp"
#include "rules/yaml/quota_format.hpp"
#include "rules/yaml/terms_format.hpp"

// Our own format: one rule, and one entry of the deny and allow lists.
namespace penstock::rules {

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

// Reads the keys that a domain or rule has.
void read_rule_defaults(const YamlFields& fields, RuleDefaults& defaults);

// Appends to the draft's rules. Names must be new in `names`.
class RuleReader {
 public:
  RuleReader(DomainDraft& draft, LoadState& state) : draft_(draft), state_(state) {}

  void read_rule(const YamlNode& node, RuleDefaults defaults);
  void read_list_entry(const YamlNode& node, Action action);

 private:
  // Name, description and position; empty when the name is invalid.
  std::optional<Rule> begin(const YamlFields& fields);
  static void read_amounts(const YamlFields& fields, const RuleDefaults& defaults, Rule& rule);
  void read_key(const YamlFields& fields, const RuleDefaults& defaults,
                const std::vector<std::string>& captures, AttributeRule& compiled, Rule& rule);
  void read_cost(const YamlFields& fields, const std::vector<std::string>& captures,
                 AttributeRule& compiled);
  void read_overrides(const YamlFields& fields, const std::vector<std::string>& captures,
                      const Rule& rule, AttributeRule& compiled);
  void finish(Rule rule, AttributeRule compiled, RuleYaml written);
  // Where the attribute or capture of this name comes from. REQUIRES: the node is a text.
  ValueSource source(const YamlNode& name, const std::vector<std::string>& captures);

  DomainDraft& draft_;
  LoadState& state_;
  TextMap<std::size_t> lines_;  // of the names so far
};

}  // namespace penstock::rules
