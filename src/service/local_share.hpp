#pragma once

#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "service/membership.hpp"
#include "store/memory_store.hpp"

#include <span>
#include <vector>

namespace penstock::service {

// What this node enforces by itself while the shared store is gone: every limit divided by the
// number of nodes. All workers of a node share one.
//
// It starts with nothing used: over an outage of length D all nodes together admit at most
// (burst + rate x D), plus what rounding up to one unit adds.
//
// Thread-safety: all members, from any thread.
class LocalShare {
 public:
  // REQUIRES: both outlive it.
  LocalShare(store::MemoryStore& memory, const Membership& members) noexcept
      : memory_(memory), members_(members) {}

  // All pass, or nothing is taken from any. REQUIRES: no name appears twice.
  [[nodiscard]] std::vector<Decision> check(std::vector<core::NamedCheck> checks) const;

  // Its part of a limit.
  [[nodiscard]] Quota share_of(const Quota& quota) const;

 private:
  store::MemoryStore& memory_;
  const Membership& members_;
};

}  // namespace penstock::service
