#include "core/any_state.hpp"

#include <algorithm>
#include <type_traits>

namespace penstock::core {
namespace {

template <class Algorithm>
typename Algorithm::State state_of(const AnyState& state) {
  const auto* held = std::get_if<typename Algorithm::State>(&state);
  return held == nullptr ? typename Algorithm::State{} : *held;
}

template <class Algorithm>
constexpr bool kIsBucket =
    std::is_same_v<Algorithm, TokenBucket> || std::is_same_v<Algorithm, Gcra>;

ExactSpan bucket_debt(const AnyState& state, const Quota& quota, Instant now) {
  if (const auto* bucket = std::get_if<TokenBucket::State>(&state)) {
    return bucket_meter::debt_at(bucket->full_at, quota, TokenBucket::effective(*bucket, now));
  }
  if (const auto* gcra = std::get_if<Gcra::State>(&state)) {
    return bucket_meter::debt_at(gcra->idle_at, quota, now);
  }
  return {};
}

bool keeps_its_counters(const Quota& from, const Quota& to) {
  return !from.is_bucket() && from.identity().shape == to.identity().shape;
}

}  // namespace

Decision decide(AnyState& state, const Quota& quota, Cost cost, Instant now) {
  return with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    typename Algorithm::State mine = state_of<Algorithm>(state);
    const bool must_write = Algorithm::settle(mine, quota, now);
    const Decision decision = Algorithm::evaluate(mine, quota, cost, now);
    const bool taken = decision.allowed() && cost.units > 0;
    if (taken) Algorithm::commit(mine, quota, cost, now);
    if (taken || must_write) state = std::move(mine);
    return decision;
  });
}

Decision evaluate(const AnyState& state, const Quota& quota, Cost cost, Instant now) {
  AnyState copy = state;
  return decide(copy, quota, cost, now);
}

void refund(AnyState& state, const Quota& quota, Cost cost, Instant now) {
  if (std::holds_alternative<std::monostate>(state)) return;
  with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    typename Algorithm::State mine = state_of<Algorithm>(state);
    static_cast<void>(Algorithm::settle(mine, quota, now));
    Algorithm::refund(mine, quota, cost, now);
    state = std::move(mine);
  });
}

Instant expires_at(const AnyState& state, const Quota& quota) {
  if (std::holds_alternative<std::monostate>(state)) return Instant{};
  return with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    return Algorithm::expires_at(state_of<Algorithm>(state), quota);
  });
}

std::uint32_t used(const AnyState& state, const Quota& quota, Instant now) {
  if (std::holds_alternative<std::monostate>(state)) return 0;
  return with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    typename Algorithm::State mine = state_of<Algorithm>(state);
    static_cast<void>(Algorithm::settle(mine, quota, now));
    return Algorithm::used(mine, quota, now);
  });
}

AnyState carry_over(const AnyState& state, const Quota& from, const Quota& to, Instant now) {
  if (std::holds_alternative<std::monostate>(state) || keeps_its_counters(from, to)) return state;
  return with_algorithm(to.algorithm(), [&]<class Algorithm>() -> AnyState {
    if constexpr (kIsBucket<Algorithm>) {
      if (from.is_bucket()) {
        const ExactSpan debt = bucket_meter::convert_debt(bucket_debt(state, from, now), from, to);
        return Algorithm::with_debt(debt, to, now);
      }
      return Algorithm::with_debt(to.time_for(std::min(used(state, from, now), to.capacity())), to,
                                  now);
    } else {
      return Algorithm::with_used(std::min(used(state, from, now), to.capacity()), to, now);
    }
  });
}

}  // namespace penstock::core
