#pragma once

#include "core/sharing_terms.hpp"
#include "lease/key_lease.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <string>

namespace penstock::simulation {

// Virtual time, of the store's clock as if it never stepped.
using Moment = std::chrono::duration<std::int64_t, std::nano>;

// What goes wrong, besides delays.
struct Faults {
  bool losses = false;     // questions and answers are lost; a node is cut off for a while
  bool crashes = false;    // nodes crash, leave, and come back
  bool failovers = false;  // the store forgets its last moments
  bool steps = false;      // of the store's clock
  bool operators = false;  // reset, give back, block and unblock
};

// One run, all of which follows from its seed.
struct Scenario {
  std::uint64_t seed = 0;
  Quota quota = per_second(1);
  core::SharingTerms terms{};
  int nodes = 1;
  Moment length{};
  Moment mean_gap{};  // between arrivals, of all nodes together
  std::int64_t most_cost = 1;
  std::int64_t most_at_once = 1;  // that arrive at the same moment
  int idle_percent = 0;           // of gaps that last until leases are about to end,
  Moment silence{};               // or so long, if it is set
  bool one_busy_node = false;     // most arrive there
  Moment latency{};               // of one way, on average
  Moment timeout{};               // of a call
  Moment between_faults{};
  Moment lag{};            // of the replica that takes over
  Duration keys_linger{};  // after they could have gone
  Faults faults{};
  lease::WasteLimit waste{};
  // Of requests with one limit, or of those that another limit may deny.
  lease::KeyLease::Use use = lease::KeyLease::Use::Final;
};

// Everything drawn: quota, load and network; demand below and above the limit. Every third is a
// storm: silence until leases are about to end, then many at once, everywhere.
[[nodiscard]] Scenario draw_scenario(std::uint64_t seed, core::Mode mode, Algorithm algorithm,
                                     const Faults& faults);

// How requests arrive.
enum class Demand : std::uint8_t {
  Steady,  // one by one
  Bursty,  // many at the same moment, at one node or at all
  Idle,    // the same, with pauses in which leases end
};

// Nothing goes wrong, and a network that is quick for a lease's lifetime: what is missing now is
// the price of leases. Limits from 10 a day to a million a second; half of the limit is asked for,
// or several times as much.
[[nodiscard]] Scenario draw_healthy_scenario(std::uint64_t seed, core::Mode mode,
                                             Algorithm algorithm, Demand demand, int nodes);

[[nodiscard]] std::string describe(const Scenario& scenario);

}  // namespace penstock::simulation
