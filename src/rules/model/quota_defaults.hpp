#pragma once

#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::rules {

// What a rule says about all its limits, or its domain about all its rules: for texts of quotas
// that do not say it.
struct QuotaDefaults {
  Algorithm algorithm = Algorithm::TokenBucket;
  std::optional<std::int64_t> burst{};
};

// "100/m", "100/m burst 20", "100/m sliding_log".
[[nodiscard]] Result<Quota> parse_quota(std::string_view text, const QuotaDefaults& defaults);

}  // namespace penstock::rules
