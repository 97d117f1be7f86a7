#include "core/any_state.hpp"

#include "base/check.hpp"

#include <type_traits>
#include <utility>

namespace penstock::core {
namespace {

template <class Algorithm>
typename Algorithm::State state_of(const AnyState& state) {
  const auto* held = std::get_if<typename Algorithm::State>(&state);
  return held == nullptr ? typename Algorithm::State{} : *held;
}

// What a bucket has used, and the instant at which it was that much: later than now while the clock
// is behind a token bucket.
struct Level {
  ExactSpan span;
  Instant at;
};

Level level_of(const AnyState& state, const Quota& quota, Instant now) {
  if (const auto* bucket = std::get_if<TokenBucket::State>(&state)) {
    const Instant at = TokenBucket::effective(*bucket, now);
    return {.span = bucket_meter::level_at(bucket->full_at, quota, at), .at = at};
  }
  const auto& gcra = std::get<Gcra::State>(state);
  return {.span = bucket_meter::level_at(gcra.idle_at, quota, now), .at = now};
}

// Whether the state of a window means the same under both: they differ in their limit alone.
bool has_same_shape(const Quota& a, const Quota& b) {
  return !a.is_bucket() && a.identity().shape == b.identity().shape;
}

Decision evaluate_within(const AnyState& state, const Quota& owner, std::uint32_t capacity,
                         Cost cost, Instant now) {
  Decision decision = with_algorithm(owner.algorithm(), [&]<class Algorithm>() {
    return Algorithm::evaluate_within(std::get<typename Algorithm::State>(state), owner, capacity,
                                      cost, now);
  });
  decision.set_drains_as_another_quota();
  return decision;
}

Instant counts_until(const Quota& quota, Instant now) {
  return with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    if constexpr (Algorithm::kIsBucket) {
      return Instant{};
    } else {
      return Algorithm::counts_until(quota, now);
    }
  });
}

// Whether a window would be replaced by one that forgets its usage sooner.
bool must_hold(const AnyState& state, const Quota& owner, const Quota& quota, Instant now) {
  if (owner.is_bucket() || quota.is_bucket()) return false;
  return used(state, owner, now) > 0 && counts_until(quota, now) < expires_at(state, owner);
}

// Usage of a window, all of it held until the window would have forgotten it.
void hold(AnyState& state, Quota& owner, Instant now) {
  state = FixedWindow::State{.end = expires_at(state, owner), .count = used(state, owner, now)};
  if (owner.algorithm() == Algorithm::FixedWindow) return;
  const Result<Quota> window =
      Quota::make(per(owner.limit(), owner.period()).with(Algorithm::AnchoredWindow));
  PENSTOCK_CHECK(window.has_value());
  owner = *window;
}

// Brings a state up to date. Returns whether that must be written even when nothing is taken.
bool settle(AnyState& state, const Quota& owner, Instant now) {
  return with_algorithm(owner.algorithm(), [&]<class Algorithm>() {
    return Algorithm::settle(std::get<typename Algorithm::State>(state), owner, now);
  });
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

AnyState convert(const AnyState& state, const Quota& from, const Quota& to, Instant now) {
  if (std::holds_alternative<std::monostate>(state) || has_same_shape(from, to)) return state;
  return with_algorithm(to.algorithm(), [&]<class Algorithm>() -> AnyState {
    if constexpr (Algorithm::kIsBucket) {
      if (from.is_bucket()) {
        const Level level = level_of(state, from, now);
        // the clock may be behind a token bucket; GCRA counts from now
        const Instant at = std::is_same_v<Algorithm, Gcra> ? now : level.at;
        return Algorithm::with_level(bucket_meter::convert_level(level.span, from, to), to, at);
      }
      return Algorithm::with_level(to.time_for(used(state, from, now)), to, now);
    } else {
      return Algorithm::with_used(used(state, from, now), to, now);
    }
  });
}

Decision decide_under(AnyState& state, Quota& owner, const Quota& quota, Cost cost, Instant now) {
  const bool is_absent = std::holds_alternative<std::monostate>(state);
  if (is_absent || owner == quota || has_same_shape(owner, quota)) {
    const Decision decision = decide(state, quota, cost, now);
    if (is_absent || (decision.allowed() && cost.units > 0)) owner = quota;
    return decision;
  }
  AnyState current = state;
  if (settle(current, owner, now)) state = current;
  const Decision decision = evaluate_within(current, owner, quota.capacity(), cost, now);
  if (!decision.allowed() || cost.units == 0) return decision;
  if (must_hold(current, owner, quota, now)) {
    hold(current, owner, now);
    static_cast<void>(settle(current, owner, now));
  }
  // the quota may follow the window that holds usage: two charges then leave what their sum leaves
  if (has_same_shape(owner, quota) || !must_hold(current, owner, quota, now)) {
    state = convert(current, owner, quota, now);
    owner = quota;
    return decide(state, quota, cost, now);
  }
  state = std::move(current);
  auto& window = std::get<FixedWindow::State>(state);
  Decision taken = FixedWindow::evaluate_within(window, owner, quota.capacity(), cost, now);
  taken.set_drains_as_another_quota();
  FixedWindow::commit(window, owner, cost, now);
  return taken;
}

Decision evaluate_under(const AnyState& state, const Quota& owner, const Quota& quota, Cost cost,
                        Instant now) {
  AnyState copy = state;
  Quota its_owner = owner;
  return decide_under(copy, its_owner, quota, cost, now);
}

}  // namespace penstock::core
