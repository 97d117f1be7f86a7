#pragma once

#include "core/sharing_terms.hpp"
#include "rules/model/attribute_rule.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <span>
#include <string_view>

// Where a limit is decided: `mode`, `lease_lifetime` and `share`, in our own format and beside
// Envoy's words.
namespace penstock::rules {

// What a domain, file or rule says about it; each may be missing.
struct TermsYaml {
  std::optional<YamlNode> mode{};
  std::optional<YamlNode> lifetime{};
  std::optional<YamlNode> share{};
};
template <class Fields>
[[nodiscard]] TermsYaml terms_yaml(const Fields& fields) {
  return {.mode = fields.find("mode"),
          .lifetime = fields.find("lease_lifetime"),
          .share = fields.find("share")};
}

// Changes what is written.
void read_terms(const TermsYaml& written, core::SharingTerms& terms);

// A rule with limits, where its terms have to make sense.
struct TermsContext {
  const TermsYaml& written;  // in the rule itself
  const YamlNode& rule;
  std::string_view name;
};
// What is left of the terms when those that its mode has no use for are gone. Terms that a limit
// cannot have are reported, and those that the rule itself wrote in vain.
[[nodiscard]] core::SharingTerms checked_terms(const TermsContext& place,
                                               const core::SharingTerms& terms,
                                               std::span<const RuleLimit> limits);
// The same for limits that stand in for the rule's.
void check_overrides(const QuotaMap& overrides, const YamlNode& section,
                     const core::SharingTerms& terms);

}  // namespace penstock::rules
