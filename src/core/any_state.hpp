#pragma once

#include "core/fixed_window.hpp"
#include "core/gcra.hpp"
#include "core/sliding_counter.hpp"
#include "core/sliding_log.hpp"
#include "core/sub_windows.hpp"
#include "core/token_bucket.hpp"

#include <array>
#include <variant>

namespace penstock::core {

// All algorithms, in the order of the enumeration.
inline constexpr std::array kAlgorithms{
    Algorithm::TokenBucket,    Algorithm::Gcra,       Algorithm::FixedWindow,
    Algorithm::AnchoredWindow, Algorithm::SlidingLog, Algorithm::SlidingCounter,
    Algorithm::SubWindows,
};

// The state of one key under whichever algorithm: for code that handles all of them alike and is
// not on the hot path. Monostate is an absent key.
using AnyState = std::variant<std::monostate, TokenBucket::State, Gcra::State, FixedWindow::State,
                              SlidingCounter::State, SlidingLog::State, SubWindows::State>;

// Calls function.template operator()<Algorithm>() with the struct that implements the quota's
// algorithm.
template <class Function>
decltype(auto) with_algorithm(Algorithm algorithm, Function&& function) {
  switch (algorithm) {
    case Algorithm::TokenBucket: return function.template operator()<TokenBucket>();
    case Algorithm::Gcra: return function.template operator()<Gcra>();
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow: return function.template operator()<FixedWindow>();
    case Algorithm::SlidingLog: return function.template operator()<SlidingLog>();
    case Algorithm::SlidingCounter: return function.template operator()<SlidingCounter>();
    case Algorithm::SubWindows: break;
  }
  return function.template operator()<SubWindows>();
}

// Decides, and updates the state when the request is allowed. With cost 0 nothing is taken.
// REQUIRES, here and below: a state that is not monostate was made under this quota.
[[nodiscard]] Decision decide(AnyState& state, const Quota& quota, Cost cost, Instant now);

// Decides without changing anything.
[[nodiscard]] Decision evaluate(const AnyState& state, const Quota& quota, Cost cost, Instant now);

// Refunds the cost of an earlier request, at most the usage. An absent key stays absent.
void refund(AnyState& state, const Quota& quota, Cost cost, Instant now);

// From this instant on the state says no more than an absent one.
[[nodiscard]] Instant expires_at(const AnyState& state, const Quota& quota);

// The usage now, rounded up.
[[nodiscard]] std::uint32_t used(const AnyState& state, const Quota& quota, Instant now);

// One key checked under several quotas: a changed limit, an override, a limit that comes with the
// request. The state has an owner, the quota it was last admitted under, and its usage drains as
// the owner says.
//
// decide_under() admits a request only if all usage, whichever quota it was charged under, fits the
// quota of the request. Only an admission makes that quota the owner. Usage of a window that the
// new quota would forget sooner is first held until the old state would have forgotten it. A denial
// and cost 0 change nothing. So no order of quotas admits more than the loosest of them would:
// docs/explanation/guarantees.md. REQUIRES: a state that is not monostate was made under `owner`.
[[nodiscard]] Decision decide_under(AnyState& state, Quota& owner, const Quota& quota, Cost cost,
                                    Instant now);

// The same without changing anything.
[[nodiscard]] Decision evaluate_under(const AnyState& state, const Quota& owner, const Quota& quota,
                                      Cost cost, Instant now);

// The same usage under another quota: in tokens between buckets, else in whole units as if taken
// now. REQUIRES: it fits `to`.
[[nodiscard]] AnyState convert(const AnyState& state, const Quota& from, const Quota& to,
                               Instant now);

}  // namespace penstock::core
