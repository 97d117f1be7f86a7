#pragma once

#include "rules/rule.hpp"
#include "rules/yaml_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace penstock::rules {

// What a `rate_limit` of envoyproxy/ratelimit says.
struct EnvoyRateLimit {
  std::string name{};  // as given; empty when none was
  std::vector<std::string> replaces{};
  Action action = Action::Limit;  // no requests per unit: Deny
  std::optional<Quota> quota{};   // of a Limit
  OnFailure on_failure = OnFailure::Open;
  bool count_denied = false;
};

// Nothing when it cannot be used; then the reason was reported. Reports all that is wrong.
[[nodiscard]] std::optional<EnvoyRateLimit> read_rate_limit(const YamlNode& node,
                                                            OnFailure by_default);
// `open`, `closed` or `local`.
[[nodiscard]] std::optional<OnFailure> read_on_failure(const YamlNode& node);

}  // namespace penstock::rules
