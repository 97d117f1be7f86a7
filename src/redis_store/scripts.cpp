#include "redis_store/scripts.hpp"

#include "redis_store/lua_texts.hpp"

#include <initializer_list>
#include <string>

namespace penstock::redis_store {
namespace {

redis::Script assemble(std::string_view clock, std::initializer_list<std::string_view> parts) {
  std::string text = "#!lua\n";
  text += clock;
  for (const std::string_view part : parts) text += part;
  return redis::Script::from(std::move(text));
}

// The Lua module of an algorithm. Several algorithms may share one, named after the first of them.
struct Module {
  Algorithm name;
  std::string_view text;
};

Module module_for(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::TokenBucket:
    case Algorithm::Gcra: return {Algorithm::TokenBucket, lua::kBucket};
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow: return {Algorithm::FixedWindow, lua::kFixedWindow};
    case Algorithm::SlidingLog: return {algorithm, lua::kSlidingLog};
    case Algorithm::SlidingCounter: return {algorithm, lua::kSlidingCounter};
    case Algorithm::SubWindows: break;
  }
  return {algorithm, lua::kSubWindows};
}

bool has_own_module(Algorithm algorithm) { return module_for(algorithm).name == algorithm; }

std::string all_modules() {
  std::string text;
  for (const Algorithm algorithm : core::kAlgorithms) {
    if (has_own_module(algorithm)) text += module_for(algorithm).text;
  }
  return text;
}

redis::Script with_modules(std::string_view clock, std::string_view modules,
                           std::string_view last) {
  return assemble(clock, {"local modules = {}  -- by the number of their algorithm\n", lua::kWide,
                          modules, lua::kStates, last});
}

auto decide_modules(std::string_view clock) {
  std::array<redis::Script, core::kAlgorithms.size()> scripts;
  for (const Algorithm algorithm : core::kAlgorithms) {
    if (!has_own_module(algorithm)) continue;
    scripts[static_cast<std::size_t>(algorithm)] =
        with_modules(clock, module_for(algorithm).text, lua::kDecide);
  }
  return scripts;
}

}  // namespace

ScriptSet::ScriptSet() : ScriptSet(lua::kClock) {}

ScriptSet::ScriptSet(std::string_view clock)
    : buckets(assemble(clock, {lua::kBuckets})),
      buckets_multi(assemble(clock, {lua::kBucketsMulti})),
      decide_module(decide_modules(clock)),
      decide_any(with_modules(clock, all_modules(), lua::kDecide)),
      lease_strict(with_modules(clock, lua::kBucket, lua::kLeaseStrict)),
      lease_strict_any(with_modules(clock, all_modules(), lua::kLeaseStrict)),
      reset(assemble(clock, {lua::kReset})),
      block(assemble(clock, {lua::kBlock})),
      count(assemble(clock, {lua::kCount})),
      read_count(assemble(clock, {lua::kReadCount})),
      counter_info(assemble(clock, {lua::kCounterInfo})),
      expire_counter(assemble(clock, {lua::kExpireCounter})),
      heartbeat(assemble(clock, {lua::kHeartbeat})),
      fleet(assemble(clock, {lua::kFleet})),
      reservation(assemble(clock, {lua::kReservation})),
      due_reservations(assemble(clock, {lua::kDueReservations})),
      permits(assemble(clock, {lua::kPermits})),
      override_one(assemble(clock, {lua::kOverride})),
      list_overrides(assemble(clock, {lua::kListOverrides})),
      action_log(assemble(clock, {lua::kActionLog})) {}

Algorithm ScriptSet::module_of(Algorithm algorithm) noexcept { return module_for(algorithm).name; }

const redis::Script& ScriptSet::decide(Algorithm algorithm) const noexcept {
  return decide_module[static_cast<std::size_t>(module_of(algorithm))];
}

std::vector<const redis::Script*> ScriptSet::all() const {
  std::vector<const redis::Script*> all{&buckets,
                                        &buckets_multi,
                                        &decide_any,
                                        &lease_strict,
                                        &lease_strict_any,
                                        &reset,
                                        &block,
                                        &count,
                                        &read_count,
                                        &counter_info,
                                        &expire_counter,
                                        &heartbeat,
                                        &reservation,
                                        &due_reservations,
                                        &permits,
                                        &override_one,
                                        &list_overrides,
                                        &action_log,
                                        &fleet};
  for (const Algorithm algorithm : core::kAlgorithms) {
    if (has_own_module(algorithm)) all.push_back(&decide(algorithm));
  }
  return all;
}

const ScriptSet& scripts() {
  static const ScriptSet set;
  return set;
}

}  // namespace penstock::redis_store
