#pragma once

#include "core/named_check.hpp"
#include "rules/model/attribute_rule.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <span>
#include <string_view>

// Where a limit is decided: `mode`, `lease_lifetime` and `share`, in our own format and as
// extensions of Envoy's.
namespace penstock::rules {

// The keys in a domain, file or rule; each may be missing.
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

// Replaces the terms that are given.
void read_terms(const TermsYaml& written, core::SharingTerms& terms);

// A rule with limits, to check its terms.
struct TermsContext {
  const TermsYaml& written;  // in the rule itself
  const YamlNode& rule;
  std::string_view name;
};
// The terms without those that the mode does not use. Reports terms that a limit cannot have, and
// terms of the rule itself that have no effect.
[[nodiscard]] core::SharingTerms checked_terms(const TermsContext& place,
                                               const core::SharingTerms& terms,
                                               std::span<const RuleLimit> limits);
// The same for limits that replace the rule's.
void check_overrides(const QuotaMap& overrides, const YamlNode& section,
                     const core::SharingTerms& terms);

}  // namespace penstock::rules
