#pragma once

#include "core/any_state.hpp"
#include "penstock/quota.hpp"
#include "redis/script.hpp"

#include <array>
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

  // The algorithm that names the Lua module of this one: several may share a module.
  [[nodiscard]] static Algorithm module_of(Algorithm algorithm) noexcept;

  // Any requests under quotas of this algorithm.
  [[nodiscard]] const redis::Script& decide(Algorithm algorithm) const noexcept;
  [[nodiscard]] std::vector<const redis::Script*> all() const;

  redis::Script buckets;        // many keys under one bucket quota
  redis::Script buckets_multi;  // requests under several bucket quotas each, the same for all
  std::array<redis::Script, core::kAlgorithms.size()> decide_module;  // by module_of()
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
  redis::Script fleet;
  redis::Script reservation;
  redis::Script due_reservations;
  redis::Script permits;
  redis::Script override_one;
  redis::Script list_overrides;
  redis::Script action_log;
};

// The set used in production, created once.
[[nodiscard]] const ScriptSet& scripts();

}  // namespace penstock::redis_store
