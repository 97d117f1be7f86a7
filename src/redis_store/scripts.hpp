#pragma once

#include "penstock/quota.hpp"
#include "redis/script.hpp"

#include <string_view>
#include <vector>

namespace penstock::redis_store {

// The scripts of lua/, assembled: each starts with "#!lua", so that a server that is no longer the
// master rejects it, and with the clock.
class ScriptSet {
 public:
  // With the clock of Redis.
  ScriptSet();
  // With other Lua code in place of the clock, which must set `now`: for tests.
  explicit ScriptSet(std::string_view clock);

  // Many keys under one bucket quota.
  [[nodiscard]] const redis::Script& buckets() const noexcept { return buckets_; }
  // Requests under several bucket quotas each, the same for all requests.
  [[nodiscard]] const redis::Script& buckets_multi() const noexcept { return buckets_multi_; }
  // Any requests under quotas of this algorithm, or of any algorithm.
  [[nodiscard]] const redis::Script& decide(Algorithm algorithm) const noexcept;
  [[nodiscard]] const redis::Script& decide_any() const noexcept { return decide_any_; }
  // Strict leases of buckets; for keys with states of buckets, or of any algorithm.
  [[nodiscard]] const redis::Script& lease_strict() const noexcept { return lease_strict_; }
  [[nodiscard]] const redis::Script& lease_strict_any() const noexcept { return lease_strict_any_; }
  [[nodiscard]] const redis::Script& reset() const noexcept { return reset_; }
  [[nodiscard]] const redis::Script& block() const noexcept { return block_; }
  [[nodiscard]] const redis::Script& count() const noexcept { return count_; }
  [[nodiscard]] const redis::Script& read_count() const noexcept { return read_count_; }
  [[nodiscard]] const redis::Script& counter_info() const noexcept { return counter_info_; }
  [[nodiscard]] const redis::Script& expire_counter() const noexcept { return expire_counter_; }
  [[nodiscard]] const redis::Script& heartbeat() const noexcept { return heartbeat_; }
  [[nodiscard]] const redis::Script& reservation() const noexcept { return reservation_; }
  [[nodiscard]] const redis::Script& due_reservations() const noexcept { return due_reservations_; }
  [[nodiscard]] const redis::Script& permits() const noexcept { return permits_; }

  [[nodiscard]] std::vector<const redis::Script*> all() const;

 private:
  redis::Script buckets_;
  redis::Script buckets_multi_;
  redis::Script decide_bucket_;
  redis::Script decide_fixed_window_;
  redis::Script decide_sliding_log_;
  redis::Script decide_sliding_counter_;
  redis::Script decide_sub_windows_;
  redis::Script decide_any_;
  redis::Script lease_strict_;
  redis::Script lease_strict_any_;
  redis::Script reset_;
  redis::Script block_;
  redis::Script count_;
  redis::Script read_count_;
  redis::Script counter_info_;
  redis::Script expire_counter_;
  redis::Script heartbeat_;
  redis::Script reservation_;
  redis::Script due_reservations_;
  redis::Script permits_;
};

// The set used in production, created once.
[[nodiscard]] const ScriptSet& scripts();

}  // namespace penstock::redis_store
