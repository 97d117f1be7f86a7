#pragma once

#include "rules/model/attribute_rule.hpp"
#include "rules/model/value_maps.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// Our own format: how much is allowed.
namespace penstock::rules {

// What a rule says about all its limits, or its domain about all its rules.
struct QuotaDefaults {
  Algorithm algorithm = Algorithm::TokenBucket;
  std::optional<std::int64_t> burst{};
};

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

}  // namespace penstock::rules
