#pragma once

#include "rules/model/rule.hpp"
#include "rules/yaml/limit_format.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace penstock::rules {

// What a `rate_limit` of envoyproxy/ratelimit says.
struct EnvoyRateLimit {
  std::string name{};  // as given; empty when none was
  std::vector<std::string> replaces{};
  Action action = Action::Limit;
  std::optional<Quota> quota{};  // of a Limit; none() for no requests per unit
  OnFailure on_failure = OnFailure::Open;
  core::SharingTerms terms{};
  bool count_denied = false;
};

// What the file says for all its limits.
struct EnvoyDefaults {
  OnFailure on_failure = OnFailure::Open;
  core::SharingTerms terms{};
};

// Nothing when it cannot be used; then the reason was reported. Reports all that is wrong. `rule`
// is what the limit is called in reports.
[[nodiscard]] std::optional<EnvoyRateLimit> read_rate_limit(const YamlNode& node,
                                                            const EnvoyDefaults& defaults,
                                                            std::string_view rule);

}  // namespace penstock::rules
