#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"

#include <cstdint>

// What may travel to Redis in one call.
namespace penstock::redis_store {

// Questions whose deadlines are in the same step may travel together.
[[nodiscard]] inline std::int64_t deadline_step(base::Deadline deadline,
                                                base::Deadline::duration step) {
  return deadline.time_since_epoch() / step;
}

// What those hear who waited too long to be asked about. Nothing was charged.
[[nodiscard]] inline Error deadline_passed() {
  return {ErrorCode::Unavailable, "the deadline passed before the store was asked"};
}

// What those hear who ask a store that is going, or wait for it.
[[nodiscard]] inline Error store_closed() {
  return {ErrorCode::Unavailable, "the store was closed"};
}

// Whether an error says for certain that nothing was executed.
[[nodiscard]] inline bool was_not_executed(const Error& error) noexcept {
  return error.code == ErrorCode::Unavailable || error.code == ErrorCode::Overloaded;
}

}  // namespace penstock::redis_store
