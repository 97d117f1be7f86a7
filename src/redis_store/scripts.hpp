#pragma once

#include "penstock/quota.hpp"
#include "redis/script.hpp"

#include <string_view>
#include <vector>

namespace penstock::redis_store {

// The scripts of lua/, assembled: each starts with "#!lua", so that a server that is no longer the
// master rejects it, and with the clock.
struct ScriptSet {
  // With the clock of Redis.
  ScriptSet();
  // With other Lua code in place of the clock, which must set `now`: for tests.
  explicit ScriptSet(std::string_view clock);

  // Any requests under quotas of this algorithm.
  [[nodiscard]] const redis::Script& decide(Algorithm algorithm) const noexcept;
  [[nodiscard]] std::vector<const redis::Script*> all() const;

  redis::Script buckets;        // many keys under one bucket quota
  redis::Script buckets_multi;  // requests under several bucket quotas each, the same for all
  redis::Script decide_bucket;
  redis::Script decide_fixed_window;
  redis::Script decide_sliding_log;
  redis::Script decide_sliding_counter;
  redis::Script decide_sub_windows;
  redis::Script decide_any;    // any requests under quotas of any algorithm
  redis::Script lease_strict;  // strict leases of buckets, for keys with states of buckets
  redis::Script lease_strict_any;
  redis::Script reset;
  redis::Script block;
  redis::Script count;
  redis::Script read_count;
  redis::Script counter_info;
  redis::Script expire_counter;
  redis::Script heartbeat;
  redis::Script reservation;
  redis::Script due_reservations;
  redis::Script permits;
};

// The set used in production, created once.
[[nodiscard]] const ScriptSet& scripts();

}  // namespace penstock::redis_store
