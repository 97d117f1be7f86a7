#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"

#include <cstdint>

// Rules for checks that share a call to Redis.
namespace penstock::redis_store {

// The script of a batch.
enum class CallKind : std::uint8_t {
  Buckets,  // buckets.lua or buckets_multi.lua: equal bucket quotas and costs
  Decide,   // decide.lua
};

// A call ends at the latest deadline of its checks: a short deadline does not shorten other waits.
// Checks share a call when their deadlines are in the same step. A queue that answers a check at
// its own deadline, before the call ends, may use a long step; otherwise the step is
// base::kDeadlineResolution.
[[nodiscard]] inline std::int64_t deadline_step(base::Deadline deadline,
                                                base::Deadline::duration step) {
  return deadline.time_since_epoch() / step;
}

// Whether a check must be answered before its call ends.
[[nodiscard]] inline bool ends_before(base::Deadline deadline, base::Deadline call_ends) {
  return deadline < call_ends - base::kDeadlineResolution;
}

// For checks that were not sent before their deadline. Nothing was charged.
[[nodiscard]] inline Error deadline_passed() {
  return {ErrorCode::Unavailable, "the deadline passed before the check was sent"};
}

// For checks of a store that is being destroyed.
[[nodiscard]] inline Error store_closed() {
  return {ErrorCode::Unavailable, "the store was closed"};
}

// Whether the error guarantees that nothing was executed.
[[nodiscard]] inline bool was_not_executed(const Error& error) noexcept {
  return error.code == ErrorCode::Unavailable || error.code == ErrorCode::Overloaded;
}

}  // namespace penstock::redis_store
