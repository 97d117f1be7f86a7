#include "service/local_share.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace penstock::service {

std::vector<Decision> LocalShare::check(std::vector<core::NamedCheck> checks) const {
  const unsigned nodes = members_.nodes();
  for (core::NamedCheck& each : checks) each.quota = share_of(each.quota, nodes);
  std::vector<Decision> decisions(checks.size());
  memory_.check_all(checks, decisions);
  return decisions;
}

Quota LocalShare::share_of(const Quota& quota, unsigned nodes) {
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

}  // namespace penstock::service
