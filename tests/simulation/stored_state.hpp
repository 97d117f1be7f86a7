#pragma once

#include "core/any_state.hpp"
#include "core/lease.hpp"

namespace penstock::simulation {

// The stored state of one limit, and its expiry.
struct StoredState {
  core::AnyState state{};
  Instant state_expires{};
  core::Escrow escrow{};
  Instant escrow_expires{};
  Instant blocked_until{};
};

}  // namespace penstock::simulation
