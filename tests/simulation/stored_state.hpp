#pragma once

#include "core/any_state.hpp"
#include "core/lease.hpp"

namespace penstock::simulation {

// What the store keeps of one count, and until when.
struct StoredState {
  core::AnyState state{};
  Instant state_expires{};
  core::Escrow escrow{};
  Instant escrow_expires{};
  Instant blocked_until{};
};

}  // namespace penstock::simulation
