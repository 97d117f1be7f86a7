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

redis::Script with_modules(std::string_view clock, std::initializer_list<std::string_view> modules,
                           std::string_view last) {
  std::string text = "local modules = {}  -- by the number of their algorithm\n";
  text += lua::kWide;
  for (const std::string_view module : modules) text += module;
  return assemble(clock, {text, lua::kStates, last});
}

redis::Script deciding(std::string_view clock, std::initializer_list<std::string_view> modules) {
  return with_modules(clock, modules, lua::kDecide);
}

}  // namespace

ScriptSet::ScriptSet() : ScriptSet(lua::kClock) {}

ScriptSet::ScriptSet(std::string_view clock)
    : buckets(assemble(clock, {lua::kBuckets})),
      buckets_multi(assemble(clock, {lua::kBucketsMulti})),
      decide_bucket(deciding(clock, {lua::kBucket})),
      decide_fixed_window(deciding(clock, {lua::kFixedWindow})),
      decide_sliding_log(deciding(clock, {lua::kSlidingLog})),
      decide_sliding_counter(deciding(clock, {lua::kSlidingCounter})),
      decide_sub_windows(deciding(clock, {lua::kSubWindows})),
      decide_any(deciding(clock, {lua::kBucket, lua::kFixedWindow, lua::kSlidingLog,
                                  lua::kSlidingCounter, lua::kSubWindows})),
      lease_strict(with_modules(clock, {lua::kBucket}, lua::kLeaseStrict)),
      lease_strict_any(with_modules(clock,
                                    {lua::kBucket, lua::kFixedWindow, lua::kSlidingLog,
                                     lua::kSlidingCounter, lua::kSubWindows},
                                    lua::kLeaseStrict)),
      reset(assemble(clock, {lua::kReset})),
      block(assemble(clock, {lua::kBlock})),
      count(assemble(clock, {lua::kCount})),
      read_count(assemble(clock, {lua::kReadCount})),
      counter_info(assemble(clock, {lua::kCounterInfo})),
      expire_counter(assemble(clock, {lua::kExpireCounter})),
      heartbeat(assemble(clock, {lua::kHeartbeat})),
      reservation(assemble(clock, {lua::kReservation})),
      due_reservations(assemble(clock, {lua::kDueReservations})),
      permits(assemble(clock, {lua::kPermits})) {}

const redis::Script& ScriptSet::decide(Algorithm algorithm) const noexcept {
  switch (algorithm) {
    case Algorithm::TokenBucket:
    case Algorithm::Gcra: return decide_bucket;
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow: return decide_fixed_window;
    case Algorithm::SlidingLog: return decide_sliding_log;
    case Algorithm::SlidingCounter: return decide_sliding_counter;
    case Algorithm::SubWindows: return decide_sub_windows;
  }
  return decide_any;
}

std::vector<const redis::Script*> ScriptSet::all() const {
  return {&buckets,
          &buckets_multi,
          &decide_bucket,
          &decide_fixed_window,
          &decide_sliding_log,
          &decide_sliding_counter,
          &decide_sub_windows,
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
          &permits};
}

const ScriptSet& scripts() {
  static const ScriptSet set;
  return set;
}

}  // namespace penstock::redis_store
