#include "core/sub_windows.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::core {
namespace {

std::int64_t part_at(const Quota& quota, Instant now) {
  return now.time_since_epoch() / SubWindows::lease_window(quota);
}

// When the part at this position of the counters has left every period that could touch it.
Instant leaves_at(const SubWindows::State& state, const Quota& quota, std::size_t position) {
  const std::int64_t parts = quota.sub_window_count();
  const std::int64_t part = state.newest - parts + static_cast<std::int64_t>(position);
  return Instant{(part + parts + 1) * SubWindows::lease_window(quota)};
}

std::uint32_t total(const SubWindows::State& state) {
  return std::accumulate(state.counts.begin(), state.counts.end(), 0U);
}

Duration reset_after(const SubWindows::State& state, const Quota& quota, Instant now) {
  return total(state) == 0 ? Duration{0} : SubWindows::expires_at(state, quota) - now;
}

// REQUIRES: to_leave <= total(state).
Duration wait_until_gone(const SubWindows::State& state, const Quota& quota, std::uint64_t to_leave,
                         Instant now) {
  std::uint64_t gone = 0;
  for (std::size_t position = 0; position < state.counts.size(); ++position) {
    gone += state.counts[position];
    if (gone >= to_leave) return leaves_at(state, quota, position) - now;
  }
  return Duration{0};
}

}  // namespace

bool SubWindows::settle(State& state, const Quota& quota, Instant now) {
  const std::int64_t part = part_at(quota, now);
  if (state.counts.empty()) {
    state.newest = part;
    return false;
  }
  if (part < state.newest) {
    if (state.newest - part <= quota.sub_window_count()) return false;
    state.newest = part;
    return true;
  }
  const auto steps = static_cast<std::size_t>(
      std::min<std::int64_t>(part - state.newest, static_cast<std::int64_t>(state.counts.size())));
  std::shift_left(state.counts.begin(), state.counts.end(), static_cast<std::ptrdiff_t>(steps));
  std::fill(state.counts.end() - static_cast<std::ptrdiff_t>(steps), state.counts.end(), 0U);
  state.newest = part;
  return false;
}

Decision SubWindows::evaluate(const State& state, const Quota& quota, Cost cost,
                              Instant now) noexcept {
  return evaluate_within(state, quota, quota.limit(), cost, now);
}

Decision SubWindows::evaluate_within(const State& state, const Quota& owner, std::uint32_t limit,
                                     Cost cost, Instant now) noexcept {
  const std::uint32_t counted = total(state);
  const std::uint32_t remaining = limit - std::min(limit, counted);
  if (cost.units > limit) {
    return Decision::never_fits(limit, remaining, reset_after(state, owner, now));
  }
  const std::uint64_t asked = std::max<std::uint64_t>(cost.units, 1);
  if (asked > remaining) {
    return Decision::deny(limit, remaining, reset_after(state, owner, now),
                          wait_until_gone(state, owner, counted + asked - limit, now));
  }
  if (cost.units == 0) return Decision::allow(limit, remaining, reset_after(state, owner, now));
  return Decision::allow(limit, remaining - static_cast<std::uint32_t>(cost.units),
                         leaves_at(state, owner, owner.sub_window_count()) - now);
}

void SubWindows::commit(State& state, const Quota& quota, Cost cost, Instant /*now*/) {
  state.counts.resize(quota.sub_window_count() + 1);
  state.counts.back() += static_cast<std::uint32_t>(cost.units);
}

void SubWindows::refund(State& state, const Quota& /*quota*/, Cost cost, Instant /*now*/) noexcept {
  std::uint64_t left = cost.units;
  for (auto count = state.counts.rbegin(); count != state.counts.rend() && left > 0; ++count) {
    const std::uint64_t taken = std::min<std::uint64_t>(left, *count);
    *count -= static_cast<std::uint32_t>(taken);
    left -= taken;
  }
  if (total(state) == 0) state.counts.clear();
}

Instant SubWindows::expires_at(const State& state, const Quota& quota) noexcept {
  for (std::size_t position = state.counts.size(); position > 0; --position) {
    if (state.counts[position - 1] > 0) return leaves_at(state, quota, position - 1);
  }
  return Instant{};
}

std::uint32_t SubWindows::used(const State& state, const Quota& /*quota*/,
                               Instant /*now*/) noexcept {
  return total(state);
}

Instant SubWindows::counts_until(const Quota& quota, Instant now) noexcept {
  return Instant{(part_at(quota, now) + quota.sub_window_count() + 1) *
                 SubWindows::lease_window(quota)};
}

SubWindows::State SubWindows::with_used(std::uint32_t used, const Quota& quota, Instant now) {
  State state{.newest = part_at(quota, now),
              .counts = std::vector<std::uint32_t>(quota.sub_window_count() + 1)};
  state.counts.back() = used;
  return state;
}

}  // namespace penstock::core
