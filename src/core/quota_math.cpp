#include "core/quota_math.hpp"

#include "base/check.hpp"
#include "base/wide.hpp"
#include "core/any_state.hpp"

#include <algorithm>

namespace penstock::core {

Quota share_of(const Quota& quota, unsigned nodes) {
  if (nodes <= 1) return quota;
  const auto share = [&](std::uint32_t units) { return std::max<std::int64_t>(units / nodes, 1); };
  QuotaSpec spec{.limit = share(quota.limit()),
                 .period = quota.period(),
                 .capacity = std::nullopt,
                 .algorithm = quota.algorithm(),
                 .sub_window_count = quota.sub_window_count()};
  if (quota.is_bucket()) spec.capacity = share(quota.capacity());
  if (const Result<Quota> made = Quota::make(spec)) return *made;
  // a rate that was rounded down may take too long to fill a huge burst
  spec.capacity = spec.limit;
  const Result<Quota> small = Quota::make(spec);
  PENSTOCK_CHECK(small.has_value());
  return *small;
}

Result<Quota> multiplied(const Quota& quota, Decimal factor) {
  PENSTOCK_CHECK(factor.nanos() > 0);
  if (quota.is_none()) return quota;
  const auto times = [&](std::uint32_t units) {
    const base::Wide product =
        base::Wide{units} * static_cast<std::uint64_t>(factor.nanos()) / Decimal::kNanosPerUnit;
    // below 2^62: the largest factor is less than 2^34
    return std::max<std::int64_t>(static_cast<std::int64_t>(product), 1);
  };
  QuotaSpec spec{.limit = times(quota.limit()),
                 .period = quota.period(),
                 .capacity = std::nullopt,
                 .algorithm = quota.algorithm(),
                 .sub_window_count = quota.sub_window_count()};
  if (quota.is_bucket()) spec.capacity = times(quota.capacity());
  const Result<Quota> made = Quota::make(spec);
  if (made) return *made;
  return Error{made.error().code,
               to_string(quota) + " times " + to_string(factor) + ": " + made.error().detail};
}

std::uint64_t max_in_any_period(const Quota& quota) {
  if (quota.is_none()) return 0;
  return with_algorithm(quota.algorithm(),
                        [&]<class Algorithm>() { return Algorithm::max_in_any_period(quota); });
}

}  // namespace penstock::core
