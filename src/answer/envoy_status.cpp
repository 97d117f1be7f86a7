#include "answer/envoy_status.hpp"

#include "core/decide_all.hpp"
#include "service/failure_policy.hpp"

#include <algorithm>
#include <array>

namespace penstock::answer {
namespace {

using service::Answer;
using service::LimitAnswer;

struct Unit {
  std::string_view name;
  Duration length;
};

// By EnvoyUnit.
constexpr std::array kUnits{Unit{"UNKNOWN", Duration{0}},
                            Unit{"SECOND", std::chrono::seconds{1}},
                            Unit{"MINUTE", std::chrono::minutes{1}},
                            Unit{"HOUR", std::chrono::hours{1}},
                            Unit{"DAY", Days{1}},
                            Unit{"MONTH", Days{30}},
                            Unit{"YEAR", Days{365}},
                            Unit{"WEEK", Days{7}}};

constexpr std::uint32_t kUnlimitedRemaining = 4'294'967'295;

// The limits of one descriptor: Envoy knows one status for each.
struct Found {
  const LimitAnswer* enforced = nullptr;  // the strictest
  const LimitAnswer* shadow = nullptr;    // speaks only where no other does
  const LimitAnswer* failed = nullptr;    // denied because the store is unavailable
};

void offer(Found& found, const LimitAnswer& limit) {
  if (service::failed_closed(limit)) found.failed = &limit;
  if (!limit.decision) return;
  const LimitAnswer*& best = limit.shadow ? found.shadow : found.enforced;
  if (best == nullptr || core::is_stricter(*limit.decision, *best->decision)) best = &limit;
}

// The rules say by which count this descriptor is limited; it is in the answer for another one.
Found find_shared(const Answer& answer, const rules::Request& request, std::size_t descriptor) {
  Found found;
  if (answer.rules == nullptr || descriptor >= request.descriptors.size()) return found;
  const rules::Match match = answer.rules->match({.domain = request.domain,
                                                  .descriptors = {request.descriptors[descriptor]},
                                                  .cost = request.cost});
  for (const rules::MatchedLimit& matched : match.limits) {
    for (const LimitAnswer& limit : answer.limits) {
      if (limit.matched.check.name == matched.check.name) offer(found, limit);
    }
  }
  return found;
}

bool has_limit(const Answer& answer, std::size_t descriptor) {
  return std::any_of(answer.limits.begin(), answer.limits.end(), [&](const LimitAnswer& limit) {
    return limit.matched.descriptor == descriptor;
  });
}

Found find_limits(const Answer& answer, std::size_t descriptor, const rules::Request* request) {
  Found found;
  for (const LimitAnswer& limit : answer.limits) {
    if (limit.matched.descriptor == descriptor) offer(found, limit);
  }
  const bool is_found = found.enforced != nullptr || found.shadow != nullptr ||
                        found.failed != nullptr || has_limit(answer, descriptor);
  if (is_found || request == nullptr) return found;
  return find_shared(answer, *request, descriptor);
}

rules::DescriptorOutcome said_about(const Answer& answer, std::size_t descriptor) {
  const std::vector<rules::DescriptorOutcome>& said = answer.match.descriptors;
  return descriptor < said.size() ? said[descriptor] : rules::DescriptorOutcome::NoRule;
}

std::chrono::seconds until_reset(const Decision& decision) {
  const Duration wait = decision.allowed()
                            ? decision.reset_after()
                            : decision.retry_after().value_or(decision.reset_after());
  return std::max(ceil_seconds(wait), std::chrono::seconds{1});
}

}  // namespace

std::string_view to_string(EnvoyUnit unit) noexcept {
  return kUnits[static_cast<std::size_t>(unit)].name;
}

std::optional<EnvoyUnit> parse_envoy_unit(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (kUnits[i].name == name) return static_cast<EnvoyUnit>(i);
  }
  return std::nullopt;
}

Duration length_of(EnvoyUnit unit) noexcept {
  return kUnits[static_cast<std::size_t>(unit)].length;
}

EnvoyUnit unit_of(Duration period) noexcept {
  for (std::size_t i = 1; i < kUnits.size(); ++i) {
    if (kUnits[i].length == period) return static_cast<EnvoyUnit>(i);
  }
  return EnvoyUnit::Unknown;
}

Result<Quota> quota_of_override(std::uint32_t requests_per_unit, EnvoyUnit unit) {
  if (unit == EnvoyUnit::Unknown || unit == EnvoyUnit::Week) {
    return Error{ErrorCode::InvalidInput,
                 "unit " + std::string(to_string(unit)) + ": a limit needs a known unit"};
  }
  if (requests_per_unit == 0) return Quota::none(length_of(unit));
  const std::int64_t limit = std::min<std::int64_t>(requests_per_unit, Quota::kMaxLimit);
  return Quota::make(per(limit, length_of(unit)).fixed_window());
}

bool shares_limits(const Answer& answer) {
  for (std::size_t i = 0; i < answer.match.descriptors.size(); ++i) {
    if (answer.match.descriptors[i] == rules::DescriptorOutcome::Limited && !has_limit(answer, i)) {
      return true;
    }
  }
  return false;
}

EnvoyStatus envoy_status(const Answer& answer, std::size_t descriptor,
                         const rules::Request* request) {
  const rules::DescriptorOutcome said = said_about(answer, descriptor);
  if (said != rules::DescriptorOutcome::Limited) request = nullptr;  // there is nothing to look for
  const Found found = find_limits(answer, descriptor, request);
  const LimitAnswer* const limit = found.enforced != nullptr ? found.enforced : found.shadow;
  EnvoyStatus status{.over_limit = found.failed != nullptr, .limit = limit};
  if (limit == nullptr) {
    status.limit = found.failed;
    status.over_limit =
        status.over_limit || said == rules::DescriptorOutcome::Denied;  // by a deny list
    if (said == rules::DescriptorOutcome::Unlimited) status.remaining = kUnlimitedRemaining;
    return status;
  }
  const Decision& decision = *limit->decision;
  status.over_limit = status.over_limit || (!decision.allowed() && !limit->shadow);
  if (found.failed == nullptr) status.remaining = decision.remaining();
  status.until_reset = until_reset(decision);
  return status;
}

}  // namespace penstock::answer
