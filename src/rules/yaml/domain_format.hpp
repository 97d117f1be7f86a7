#pragma once

#include "base/text_hash.hpp"
#include "rules/match/attribute_matcher.hpp"
#include "rules/yaml/load_state.hpp"

#include <optional>
#include <string>
#include <vector>

// Our own format: domains (domain_format.cpp), their rules and lists (rule_format.cpp), and the
// conditions of these (condition_format.cpp); warnings about valid files
// (configuration_warnings.cpp, map_value_warnings.cpp).
//
//     when:
//       method: GET                      equal; methods are compared in upper case
//       tier: [free, trial]              one of
//       client_ip: [203.0.113.0/24]      in one of these networks
//       path: /v1/search/**              * within a segment, ** any segments, {id} one, remembered
//       user_agent: curl*                * any characters
//       host: {prefix: api.}             said in full: equals, one_of, prefix, glob, template,
//       cidr, plan: {not: {one_of: [a, b]}}    regex, present, not; all that are given have to hold
namespace penstock::rules {

// A rule in the file.
struct RuleYaml {
  YamlNode rule;
  std::optional<YamlNode> key{};
  bool has_if_missing = false;
};

// A domain while it is read.
class DomainDraft {
 public:
  static constexpr std::size_t kMaxAttributes = 256;

  // The number of an attribute; new ones get the next.
  std::size_t slot(std::string_view attribute);
  void use(std::size_t slot, SlotUse use);

  AttributeDomain domain;
  std::string_view folding{};               // the option by which rules see paths in lower case
  std::vector<RuleYaml> written{};          // one per rule of the domain
  base::TextMap<std::size_t> rule_lines{};  // by name
  std::vector<YamlNode> mentions{};         // each use of an attribute's name
  std::vector<std::string> captures{};      // names that patterns of any rule capture
};

void load_domains(const YamlNode& section, LoadState& state);
// Appends the deny list, the allow list and the rules of a domain to the draft's rules.
void read_rules(const YamlFields& domain, DomainDraft& draft, LoadState& state);
// The conditions of a rule. Names that patterns capture are appended to `captures`.
[[nodiscard]] std::vector<Condition> read_conditions(const YamlNode& when, DomainDraft& draft,
                                                     std::vector<std::string>& captures);

// Warns of rules that a client evades by leaving something out: their key has an attribute that
// clients supply, requests without it are skipped, and no other rule limits these. A rule with
// `if_missing` is not reported.
void warn_of_requests_without_key(const DomainDraft& draft);
// How the domain uses its maps, for warn_of_unmatched_values().
[[nodiscard]] std::vector<MapUse> map_uses_of(const AttributeDomain& domain);
// Warns of values in maps that no rule of any domain matches, and that resemble one that a rule
// matches: a mistyped tier leaves its keys without the limits of the tier. REQUIRES: all files were
// read without an error.
void warn_of_unmatched_values(const LoadState& state, Diagnostics& diagnostics);
// Warns of valid configurations that probably limit nothing: domains of listeners without rules,
// attributes that no listener, map, descriptor or caller_attributes provides. REQUIRES: all files
// were read without an error.
void warn_of_probable_mistakes(const LoadState& state);

}  // namespace penstock::rules
