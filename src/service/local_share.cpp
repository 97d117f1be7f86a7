#include "service/local_share.hpp"

#include "core/share.hpp"

namespace penstock::service {

std::vector<Decision> LocalShare::check(std::vector<core::NamedCheck> checks) const {
  const unsigned nodes = members_.nodes();
  for (core::NamedCheck& each : checks) each.quota = core::share_of(each.quota, nodes);
  std::vector<Decision> decisions(checks.size());
  memory_.check_all(checks, decisions);
  return decisions;
}

Quota LocalShare::share_of(const Quota& quota) const {
  return core::share_of(quota, members_.nodes());
}

}  // namespace penstock::service
