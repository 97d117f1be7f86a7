#pragma once

#include "rules/model/rule.hpp"
#include "service/answer.hpp"
#include "service/local_fallback.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::service {

// What to do about one limit that the store could not be asked about.
enum class FailureAction : std::uint8_t {
  Allow,
  Deny,
  DecideLocally,  // this node's share decides
  Skip,           // another limit has refused the request already
};

struct FailurePlan {
  Reason reason = Reason::FailedOpen;   // FailedOpen, FailedClosed or DecidedLocally
  std::vector<FailureAction> limits{};  // as many as were asked about
};

// The failure policy, all of it. A closed limit refuses the request, and then nothing is taken from
// any other; local ones are decided by this node's share; open ones let pass.
[[nodiscard]] FailurePlan plan_for_failure(std::span<const rules::OnFailure> limits);

// Keeps what the store said about a limit, if this node would have to enforce it alone should the
// store be gone the next moment. `changes` is what local.changes() was when the store was asked.
// REQUIRES: it has a decision.
void remember(LocalFallback& local, const LimitAnswer& limit, std::uint64_t changes);

}  // namespace penstock::service
