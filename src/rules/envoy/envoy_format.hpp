#pragma once

#include "rules/model/ruleset_builder.hpp"
#include "rules/yaml/yaml_reader.hpp"

namespace penstock::rules {

// Whether a file is of envoyproxy/ratelimit: `domain` or `descriptors` at the top.
[[nodiscard]] bool is_envoy_format(const YamlNode& root);

// Reads a file of envoyproxy/ratelimit into the builder. What is wrong is reported through the
// node, in their words where they have some, and reading goes on. What they accept without effect
// is a warning.
//
// Our own words are accepted beside theirs: `algorithm`, `burst`, `count_denied`, `on_failure`,
// `mode`, `lease_lifetime` and `share` in a rate_limit, and the last four at the top for all of the
// file.
void load_envoy(const YamlNode& root, RulesetBuilder& builder);

}  // namespace penstock::rules
