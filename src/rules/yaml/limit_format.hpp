#pragma once

#include "core/named_check.hpp"
#include "rules/match/attribute_matcher.hpp"
#include "rules/model/quota_defaults.hpp"
#include "rules/model/value_maps.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// How much a rule of our own format allows; and where limits are decided (`mode`, `lease_lifetime`,
// `share`) and what holds when the store is unavailable, in our own format and as extensions of
// Envoy's.
namespace penstock::rules {

// Changes what `algorithm` and `burst` of the map say.
void read_quota_defaults(const YamlFields& fields, QuotaDefaults& defaults);

// "600/minute", "600/minute burst 10 gcra"
[[nodiscard]] std::optional<Quota> read_quota(const YamlNode& limit, const QuotaDefaults& defaults);
// "per-second: 10/s", "per-day: {limit: 5000/day, algorithm: sliding_log}"
[[nodiscard]] std::vector<RuleLimit> read_limits(const YamlNode& limits,
                                                 const QuotaDefaults& defaults);

// Maps of limits, checked once per algorithm that is the default where they are used.
class OverrideMaps {
 public:
  // Bad values are reported at `place`. "unlimited" is a value too.
  [[nodiscard]] std::shared_ptr<const QuotaMap> of(const std::shared_ptr<const ValueMap>& map,
                                                   Algorithm algorithm, const YamlNode& place);

 private:
  std::map<std::pair<std::shared_ptr<const ValueMap>, Algorithm>, std::shared_ptr<const QuotaMap>>
      known_;
};

// `on_failure`: open, closed or local.
void read_on_failure(const YamlFields& fields, OnFailure& on_failure);

// Replaces the terms that are given.
void read_terms(const YamlFields& fields, core::SharingTerms& terms);
// The terms of a rule with limits, without those that its mode does not use. Reports terms that a
// limit cannot have, and terms of the rule itself that have no effect.
[[nodiscard]] core::SharingTerms checked_terms(const YamlFields& rule, std::string_view name,
                                               const core::SharingTerms& terms,
                                               std::span<const RuleLimit> limits);
// The same for limits that replace the rule's.
void check_overrides(const QuotaMap& overrides, const YamlNode& section,
                     const core::SharingTerms& terms);

}  // namespace penstock::rules
