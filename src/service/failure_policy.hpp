#pragma once

#include "rules/model/rule.hpp"
#include "service/answer.hpp"
#include "service/local_fallback.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::service {

// What to do about one limit while the store is unavailable.
enum class FailureAction : std::uint8_t {
  Allow,
  Deny,
  DecideLocally,  // the local fallback decides
  Skip,           // another limit has denied the request
};

struct FailurePlan {
  Reason reason = Reason::FailedOpen;   // FailedOpen, FailedClosed or DecidedLocally
  std::vector<FailureAction> limits{};  // one per policy
};

[[nodiscard]] rules::OnFailure on_failure_of(const rules::MatchedLimit& matched) noexcept;
// The policy of a limit by itself: never Skip.
[[nodiscard]] FailureAction action_on_failure(const rules::MatchedLimit& matched) noexcept;

// Whether the limit denies because the store is unavailable. REQUIRES: the store was.
[[nodiscard]] bool failed_closed(const LimitAnswer& limit) noexcept;

// The failure policy of limits that must all pass. A closed limit denies the request, and no other
// limit is charged; local limits are decided by the local fallback; open limits allow.
[[nodiscard]] FailurePlan plan_for_failure(std::span<const rules::OnFailure> limits);

// Keeps the decision of the store for the local fallback, if the limit uses it. `changes` is
// local.changes() at the time of the call. REQUIRES: the limit has a decision.
void remember(LocalFallback& local, const LimitAnswer& limit, std::uint64_t changes);

}  // namespace penstock::service
