#pragma once

#include "core/named_check.hpp"
#include "lease/key_lease.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <string>

namespace penstock::simulation {

// Virtual time of the store's clock, without its steps.
using Moment = std::chrono::duration<std::int64_t, std::nano>;

// Faults other than delays.
struct Faults {
  bool losses = false;     // requests and replies are lost; a node is partitioned for a while
  bool crashes = false;    // nodes crash, shut down and restart
  bool failovers = false;  // the store loses its latest changes
  bool steps = false;      // of the store's clock
  bool operators = false;  // reset, refund, block and unblock
};

// One run, fully determined by its seed.
struct Scenario {
  std::uint64_t seed = 0;
  Quota quota = per_second(1);
  core::SharingTerms terms{};
  int nodes = 1;
  Moment length{};
  Moment mean_gap{};  // between arrivals, over all nodes
  std::int64_t most_cost = 1;
  std::int64_t most_at_once = 1;  // requests arriving at the same time
  int idle_percent = 0;           // of gaps that last until leases are about to end,
  Moment silence{};               // or for this long, if set
  bool one_busy_node = false;     // most requests arrive there
  Moment latency{};               // one way, on average
  Moment timeout{};               // of a call
  Moment between_faults{};
  Moment lag{};            // of the replica that is promoted
  Duration keys_linger{};  // after they could have expired
  Faults faults{};
  lease::WasteLimit waste{};
  // For requests with one limit, or for those that another limit may deny.
  lease::KeyLease::Use use = lease::KeyLease::Use::Final;
};

// Random quota, load and network; demand below and above the limit. Every third is a storm: silence
// until leases are about to expire, then many requests on all nodes.
[[nodiscard]] Scenario draw_scenario(std::uint64_t seed, core::Mode mode, Algorithm algorithm,
                                     const Faults& faults);

// How requests arrive.
enum class Demand : std::uint8_t {
  Steady,  // one by one
  Bursty,  // many at the same moment, at one node or at all
  Idle,    // the same, with pauses in which leases end
};

// No faults, and a network that is fast relative to the lease lifetime: missing admissions are the
// cost of leases. Limits from 10 per day to a million per second; demand is half of the limit or
// several times as much.
[[nodiscard]] Scenario draw_healthy_scenario(std::uint64_t seed, core::Mode mode,
                                             Algorithm algorithm, Demand demand, int nodes);

[[nodiscard]] std::string describe(const Scenario& scenario);

}  // namespace penstock::simulation
