#pragma once

#include "penstock/clock.hpp"
#include "service/answer.hpp"

#include <cstdint>
#include <optional>
#include <span>

// How several limits make one answer. Pure functions.
namespace penstock::service {

// What a limit has to do with the answer.
enum class Role : std::uint8_t {
  Enforced,     // must pass
  Alternative,  // Envoy's quota mode: one of all alternatives must pass
  Shadow,       // looked at, and never enforced
  Refund,       // is given something, and refuses nothing
};
[[nodiscard]] Role role_of(const rules::MatchedLimit& matched) noexcept;

// In quota mode and in shadow mode: evaluated as a shadow limit, and as an alternative it never
// refuses. So the alternatives beside it cannot all refuse, as in envoyproxy/ratelimit.
[[nodiscard]] bool is_shadow_alternative(const rules::MatchedLimit& matched) noexcept;

// What the answer is while the store cannot be asked about this limit.
[[nodiscard]] rules::OnFailure on_failure_of(const rules::MatchedLimit& matched) noexcept;

struct CombinedDecision {
  bool allowed = true;
  // See Answer::strictest. When all alternatives refuse: the one to wait for the least, because one
  // of them is enough.
  std::optional<std::size_t> strictest{};
};

// Refused when an enforced limit refuses, or when there are alternatives and all of them refuse,
// none of them in shadow mode.
// Limits without a decision refuse nothing.
[[nodiscard]] CombinedDecision combine(std::span<const LimitAnswer> limits);

// Decides the limits of 0, which need no store: such a limit denies whatever is asked, a peek as
// well, and takes what is given back. Whether there are any; else the clock is not read.
bool decide_zero_limits(std::span<LimitAnswer> limits, const Clock& clock);
// Whether they deny the request, whatever the other limits say: one of them is enforced, or they
// are all the alternatives that there are. REQUIRES: no other limit has a decision.
[[nodiscard]] bool is_denied_by_zero_limits(std::span<const LimitAnswer> limits);

// Settles what needs no store: an entry of an allow or deny list, or no limit at all. Whether it
// did.
[[nodiscard]] bool decide_without_limits(Answer& answer);

// What a request of this cost would be told, judging by a decision about cost 0. When it would be
// refused, `retry_after` is at most the one given: by then nothing counts as used any more.
[[nodiscard]] Decision decision_from_peek(const Decision& peeked, const Quota& quota, Cost cost);

}  // namespace penstock::service
