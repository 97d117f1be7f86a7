#pragma once

#include "core/any_state.hpp"
#include "core/lease.hpp"

namespace penstock::simulation {

// What the store keeps of one count, and until when.
struct Kept {
  core::AnyState state{};
  Instant state_goes{};
  core::Escrow escrow{};
  Instant escrow_goes{};
  Instant blocked_until{};
};

}  // namespace penstock::simulation
