#pragma once

#include "core/fixed_window.hpp"
#include "core/gcra.hpp"
#include "core/sliding_counter.hpp"
#include "core/sliding_log.hpp"
#include "core/sub_windows.hpp"
#include "core/token_bucket.hpp"

#include <variant>

namespace penstock::core {

// The state of one key under whichever algorithm: for code that handles all of them alike and is
// not on the hot path. Monostate is a key that nobody has asked about.
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

// Gives back what an earlier request took, up to what is used. Nothing happens to an absent key.
void refund(AnyState& state, const Quota& quota, Cost cost, Instant now);

// From this instant on the state says no more than an absent one.
[[nodiscard]] Instant expires_at(const AnyState& state, const Quota& quota);

// What counts as used now, rounded up.
[[nodiscard]] std::uint32_t used(const AnyState& state, const Quota& quota, Instant now);

// The state of the same key after its quota was changed: what was used stays used, up to the new
// capacity. A bucket keeps its fraction of a token; a window keeps its counters while period and
// algorithm stay; everything else starts with what was used, as if taken now.
[[nodiscard]] AnyState carry_over(const AnyState& state, const Quota& from, const Quota& to,
                                  Instant now);

}  // namespace penstock::core
