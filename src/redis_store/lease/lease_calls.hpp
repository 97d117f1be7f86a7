#pragma once

#include "base/deadline.hpp"
#include "redis/client.hpp"
#include "redis_store/lease/lease_command.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace penstock::redis_store {

using Leased = std::function<void(std::size_t ask, const Result<store::LeaseGrant>& grant)>;

// Requests leases in as few calls as possible: strict leases apart from plain ones, plain ones by
// algorithm, and in a cluster by slot. `leased` receives an answer to each of them, once. REQUIRES:
// no key appears twice. The client and the scripts outlive the answers.
void lease(redis::Client& client, const ScriptSet& scripts, std::vector<KeyLeaseRequest> asks,
           base::Deadline deadline, Leased leased);

}  // namespace penstock::redis_store
