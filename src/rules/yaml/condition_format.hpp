#pragma once

#include "rules/match/attribute_matcher.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <string>
#include <vector>

// Our own format: conditions on the attributes of a request.
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
  std::string_view folding{};           // the option by which rules see paths in lower case
  std::vector<RuleYaml> written{};      // one per rule of the domain
  std::vector<YamlNode> mentions{};     // each use of an attribute's name
  std::vector<std::string> captures{};  // names that patterns of any rule capture
};

// The conditions of a rule. Names that patterns capture are appended to `captures`.
[[nodiscard]] std::vector<Condition> read_conditions(const YamlNode& when, DomainDraft& draft,
                                                     std::vector<std::string>& captures);

}  // namespace penstock::rules
