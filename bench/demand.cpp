#include "bench/demand.hpp"

#include "penstock/clock.hpp"
#include "penstock/limiter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace penstock::bench {
namespace {

using std::chrono::milliseconds;

struct Cycle {
  milliseconds length;
  milliseconds busy;  // at its beginning; zero for one turn
};

constexpr std::array kDemands{Demand::Full, Demand::Steady, Demand::Bursty, Demand::Idle};

Cycle cycle_of(Demand demand) noexcept {
  switch (demand) {
    case Demand::Full: break;
    case Demand::Steady: return {.length = milliseconds{5}, .busy = milliseconds{0}};
    case Demand::Bursty: return {.length = milliseconds{100}, .busy = milliseconds{20}};
    case Demand::Idle: return {.length = milliseconds{600}, .busy = milliseconds{50}};
  }
  return {.length = milliseconds{1}, .busy = milliseconds{1}};
}

}  // namespace

std::string_view to_string(Demand demand) noexcept {
  switch (demand) {
    case Demand::Full: return "full";
    case Demand::Steady: return "steady";
    case Demand::Bursty: return "bursty";
    case Demand::Idle: return "idle";
  }
  return "";
}

std::optional<Demand> parse_demand(std::string_view text) noexcept {
  const auto* const found = std::find_if(kDemands.begin(), kDemands.end(),
                                         [&](Demand demand) { return to_string(demand) == text; });
  return found == kDemands.end() ? std::nullopt : std::optional(*found);
}

std::chrono::nanoseconds pause_before(Demand demand, SteadyTime last_turn,
                                      SteadyTime now) noexcept {
  const Cycle cycle = cycle_of(demand);
  const std::chrono::nanoseconds passed = now.time_since_epoch() % cycle.length;
  const bool had_its_turn =
      last_turn.time_since_epoch() / cycle.length == now.time_since_epoch() / cycle.length;
  const bool rests = had_its_turn && passed >= cycle.busy;
  return rests ? cycle.length - passed : std::chrono::nanoseconds{0};
}

std::chrono::milliseconds two_cycles(Demand demand) noexcept { return 2 * cycle_of(demand).length; }

void DemandLog::note(std::uint32_t key, SteadyTime now) {
  const std::int64_t step = now.time_since_epoch() / kStep;
  if (step != step_) close_step();
  step_ = step;
  if (requests_[key]++ == 0) touched_.push_back(key);
}

void DemandLog::close_step() {
  for (const std::uint32_t key : touched_) {
    entries_.push_back({.step = step_, .key = key, .requests = requests_[key]});
    requests_[key] = 0;
  }
  touched_.clear();
}

std::vector<DemandLog::Entry> DemandLog::take() {
  close_step();
  return std::exchange(entries_, {});
}

std::uint64_t admitted_exactly(const Quota& quota, std::span<const DemandLog::Entry> demand,
                               Instant to_store_clock) {
  std::vector<DemandLog::Entry> in_order(demand.begin(), demand.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  ManualClock clock;
  MemoryOptions options;
  options.clock = &clock;
  Limiter limiter(options);
  std::uint64_t admitted = 0;
  for (const DemandLog::Entry& entry : in_order) {
    clock.set(to_store_clock + entry.step * Duration{DemandLog::kStep});
    const std::string key = std::to_string(entry.key);
    for (std::uint32_t i = 0; i < entry.requests && limiter.check(key, quota).allowed(); ++i) {
      ++admitted;
    }
  }
  return admitted;
}

}  // namespace penstock::bench
