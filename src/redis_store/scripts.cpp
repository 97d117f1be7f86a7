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
    : buckets_(assemble(clock, {lua::kBuckets})),
      buckets_multi_(assemble(clock, {lua::kBucketsMulti})),
      decide_bucket_(deciding(clock, {lua::kBucket})),
      decide_fixed_window_(deciding(clock, {lua::kFixedWindow})),
      decide_sliding_log_(deciding(clock, {lua::kSlidingLog})),
      decide_sliding_counter_(deciding(clock, {lua::kSlidingCounter})),
      decide_sub_windows_(deciding(clock, {lua::kSubWindows})),
      decide_any_(deciding(clock, {lua::kBucket, lua::kFixedWindow, lua::kSlidingLog,
                                   lua::kSlidingCounter, lua::kSubWindows})),
      lease_strict_(with_modules(clock, {lua::kBucket}, lua::kLeaseStrict)),
      lease_strict_any_(with_modules(clock,
                                     {lua::kBucket, lua::kFixedWindow, lua::kSlidingLog,
                                      lua::kSlidingCounter, lua::kSubWindows},
                                     lua::kLeaseStrict)),
      reset_(assemble(clock, {lua::kReset})),
      block_(assemble(clock, {lua::kBlock})),
      count_(assemble(clock, {lua::kCount})),
      read_count_(assemble(clock, {lua::kReadCount})),
      counter_info_(assemble(clock, {lua::kCounterInfo})),
      expire_counter_(assemble(clock, {lua::kExpireCounter})),
      heartbeat_(assemble(clock, {lua::kHeartbeat})),
      reservation_(assemble(clock, {lua::kReservation})),
      due_reservations_(assemble(clock, {lua::kDueReservations})),
      permits_(assemble(clock, {lua::kPermits})) {}

const redis::Script& ScriptSet::decide(Algorithm algorithm) const noexcept {
  switch (algorithm) {
    case Algorithm::TokenBucket:
    case Algorithm::Gcra: return decide_bucket_;
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow: return decide_fixed_window_;
    case Algorithm::SlidingLog: return decide_sliding_log_;
    case Algorithm::SlidingCounter: return decide_sliding_counter_;
    case Algorithm::SubWindows: return decide_sub_windows_;
  }
  return decide_any_;
}

std::vector<const redis::Script*> ScriptSet::all() const {
  return {&buckets_,
          &buckets_multi_,
          &decide_bucket_,
          &decide_fixed_window_,
          &decide_sliding_log_,
          &decide_sliding_counter_,
          &decide_sub_windows_,
          &decide_any_,
          &lease_strict_,
          &lease_strict_any_,
          &reset_,
          &block_,
          &count_,
          &read_count_,
          &counter_info_,
          &expire_counter_,
          &heartbeat_,
          &reservation_,
          &due_reservations_,
          &permits_};
}

const ScriptSet& scripts() {
  static const ScriptSet set;
  return set;
}

}  // namespace penstock::redis_store
