#pragma once

#include "store/counter_store.hpp"
#include "store/limit_store.hpp"
#include "store/permit_store.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <string>

namespace penstock::store {

// The stores of one event loop, one per role.
struct Stores {
  LimitStore& limits;
  CounterStore& counters;
  PermitStore& permits;
  ReservationStore& reservations;
};

// State of the connection to a store, for /readyz and metrics. Known without a call.
struct StoreHealth {
  bool serving = true;
  std::string reason{};  // when not serving
  std::uint64_t round_trips = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t fast_fails = 0;  // calls rejected because the circuit breaker was open
  std::uint64_t connects = 0;
  std::uint64_t script_loads = 0;
};

}  // namespace penstock::store
