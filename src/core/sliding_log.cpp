#include "core/sliding_log.hpp"

#include <algorithm>

namespace penstock::core {
namespace {

bool is_empty(const SlidingLog::State& state) { return state.expired == state.entries.size(); }

void forget_expired(SlidingLog::State& state, Instant until) {
  while (!is_empty(state) && state.entries[state.expired].at <= until) {
    state.total -= state.entries[state.expired].weight;
    ++state.expired;
  }
  // Moving the rest down costs as much as was expired, so every entry is moved once on average.
  if (state.expired > state.entries.size() / 2) {
    state.entries.erase(state.entries.begin(),
                        state.entries.begin() + static_cast<std::ptrdiff_t>(state.expired));
    state.expired = 0;
  }
}

void restamp_future(SlidingLog::State& state, Instant now) {
  std::uint32_t weight = 0;
  while (!is_empty(state) && state.entries.back().at >= now) {
    weight += state.entries.back().weight;
    state.entries.pop_back();
  }
  if (weight > 0) state.entries.push_back({.at = now, .weight = weight});
}

Duration reset_after(const SlidingLog::State& state, const Quota& quota, Instant now) {
  return is_empty(state) ? Duration{0} : state.entries.back().at + quota.period() - now;
}

// REQUIRES: to_leave <= state.total.
Duration wait_until_gone(const SlidingLog::State& state, const Quota& quota, std::uint64_t to_leave,
                         Instant now) {
  std::uint64_t gone = 0;
  for (std::size_t index = state.expired; index < state.entries.size(); ++index) {
    gone += state.entries[index].weight;
    if (gone >= to_leave) return state.entries[index].at + quota.period() - now;
  }
  return Duration{0};
}

}  // namespace

bool SlidingLog::settle(State& state, const Quota& quota, Instant now) {
  forget_expired(state, now - quota.period());
  if (is_empty(state) || state.entries.back().at - now <= quota.period()) return false;
  restamp_future(state, now);
  return true;
}

Decision SlidingLog::evaluate(const State& state, const Quota& quota, Cost cost,
                              Instant now) noexcept {
  return evaluate_within(state, quota, quota.limit(), cost, now);
}

Decision SlidingLog::evaluate_within(const State& state, const Quota& owner, std::uint32_t limit,
                                     Cost cost, Instant now) noexcept {
  const std::uint32_t remaining = limit - std::min(limit, state.total);
  if (cost.units > limit) {
    return Decision::never_fits(limit, remaining, reset_after(state, owner, now));
  }
  const std::uint64_t asked = std::max<std::uint64_t>(cost.units, 1);
  if (asked > remaining) {
    return Decision::deny(limit, remaining, reset_after(state, owner, now),
                          wait_until_gone(state, owner, state.total + asked - limit, now));
  }
  if (cost.units == 0) return Decision::allow(limit, remaining, reset_after(state, owner, now));
  const Instant stamp = is_empty(state) ? now : std::max(now, state.entries.back().at);
  return Decision::allow(limit, remaining - static_cast<std::uint32_t>(cost.units),
                         stamp + owner.period() - now);
}

void SlidingLog::commit(State& state, const Quota& /*quota*/, Cost cost, Instant now) {
  const auto weight = static_cast<std::uint32_t>(cost.units);
  if (!is_empty(state) && state.entries.back().at >= now) {
    state.entries.back().weight += weight;
  } else {
    state.entries.push_back({.at = now, .weight = weight});
  }
  state.total += weight;
}

void SlidingLog::refund(State& state, const Quota& /*quota*/, Cost cost, Instant /*now*/) noexcept {
  std::uint64_t left = cost.units;
  while (left > 0 && !is_empty(state)) {
    Entry& newest = state.entries.back();
    const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, newest.weight));
    newest.weight -= taken;
    state.total -= taken;
    left -= taken;
    if (newest.weight == 0) state.entries.pop_back();
  }
}

Instant SlidingLog::expires_at(const State& state, const Quota& quota) noexcept {
  return is_empty(state) ? Instant{} : state.entries.back().at + quota.period();
}

std::uint32_t SlidingLog::used(const State& state, const Quota& /*quota*/,
                               Instant /*now*/) noexcept {
  return state.total;
}

Instant SlidingLog::counts_until(const Quota& quota, Instant now) noexcept {
  return now + quota.period();
}

SlidingLog::State SlidingLog::with_used(std::uint32_t used, const Quota& /*quota*/, Instant now) {
  State state;
  if (used > 0) state = {.entries = {{.at = now, .weight = used}}, .expired = 0, .total = used};
  return state;
}

}  // namespace penstock::core
