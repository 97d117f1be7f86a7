#pragma once

#include "core/terms.hpp"
#include "rules/model/attribute_rule.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <span>
#include <string_view>

// Where a limit is decided: `mode`, `lease_lifetime` and `share`, in our own format and beside
// Envoy's words.
namespace penstock::rules {

// What a domain, file or rule says about it; each may be missing.
struct WrittenTerms {
  std::optional<YamlNode> mode{};
  std::optional<YamlNode> lifetime{};
  std::optional<YamlNode> share{};
};
template <class Fields>
[[nodiscard]] WrittenTerms written_terms(const Fields& fields) {
  return {.mode = fields.find("mode"),
          .lifetime = fields.find("lease_lifetime"),
          .share = fields.find("share")};
}

// Changes what is written.
void read_terms(const WrittenTerms& written, core::Terms& terms);

// A rule with limits, where its terms have to make sense.
struct TermsPlace {
  const WrittenTerms& written;  // in the rule itself
  const YamlNode& rule;
  std::string_view name;
};
// What is left of the terms when those that its mode has no use for are gone. Terms that a limit
// cannot have are reported, and those that the rule itself wrote in vain.
[[nodiscard]] core::Terms checked_terms(const TermsPlace& place, const core::Terms& terms,
                                        std::span<const RuleLimit> limits);
// The same for limits that stand in for the rule's.
void check_overrides(const QuotaMap& overrides, const YamlNode& section, const core::Terms& terms);

}  // namespace penstock::rules
