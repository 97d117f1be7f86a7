#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"

#include <cstdint>

// Rules for checks that share a call to Redis.
namespace penstock::redis_store {

// Checks with deadlines in the same step may share a call.
[[nodiscard]] inline std::int64_t deadline_step(base::Deadline deadline,
                                                base::Deadline::duration step) {
  return deadline.time_since_epoch() / step;
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
