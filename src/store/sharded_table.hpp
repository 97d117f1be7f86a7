#pragma once

#include "core/named_check.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/limits.hpp"
#include "penstock/memory_options.hpp"
#include "store/counter_table.hpp"
#include "store/key_hasher.hpp"
#include "store/operator_table.hpp"
#include "store/permit_table.hpp"
#include "store/reservation_table.hpp"
#include "store/shard.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::store {

// The table of the memory store: every algorithm, exact. Keys are spread over shards by their hash;
// a decision locks the shard of its key for some tens of nanoseconds, a multi-limit check locks all
// of its shards, in order.
//
// Thread-safety: all members, from any thread.
class ShardedTable {
 public:
  explicit ShardedTable(const MemoryOptions& options)
      : ShardedTable(options, KeyHasher(KeyHasher::random_secret())) {}
  ShardedTable(const MemoryOptions& options, const KeyHasher& hasher);

  [[nodiscard]] Decision check(std::string_view key, const Quota& quota, Cost cost) noexcept;
  [[nodiscard]] Decision check(std::string_view key, const Limits& limits, Cost cost) noexcept;
  [[nodiscard]] Decision check_all(std::span<const Check> checks,
                                   std::span<Decision> each) noexcept;
  void check_each(std::span<const Check> checks, std::span<Decision> decisions) noexcept;

  Decision refund(std::string_view key, const Quota& quota, Cost cost) noexcept;
  Decision refund(std::string_view key, const Limits& limits, Cost cost) noexcept;
  bool reset(std::string_view key) noexcept;
  bool reset(std::string_view key, const Limits& limits) noexcept;
  void block(std::string_view key, Duration duration) noexcept;
  bool unblock(std::string_view key) noexcept;

  // The same for counts with names. A block is of one count alone; that of a subject without a
  // limit is the key of the functions above. `each` has as many places as there are checks.
  [[nodiscard]] Decision check(const core::NamedCheck& named) noexcept;
  void check_all(std::span<const core::NamedCheck> checks, std::span<Decision> each) noexcept;
  void check_all(std::span<const core::NamedCheck* const> checks,
                 std::span<Decision> each) noexcept;
  void refund(std::span<const core::NamedCheck> checks, std::span<Decision> each) noexcept;
  // Raises the usage to at least `used`, as if it were charged now, and lifts a block. Higher usage
  // stays.
  void raise_used(const core::LimitKey& name, const Quota& quota, std::uint32_t used) noexcept;
  bool reset(const core::LimitKey& name) noexcept;
  // Whether it was blocked before. Zero unblocks.
  bool block(const core::LimitKey& name, Duration duration) noexcept;

  [[nodiscard]] CounterTable& counters() noexcept { return counters_; }
  [[nodiscard]] PermitTable& permits() noexcept { return permits_; }
  [[nodiscard]] ReservationTable& reservations() noexcept { return reservations_; }
  [[nodiscard]] OperatorTable& operators() noexcept { return operators_; }
  [[nodiscard]] MemoryStats stats() const noexcept;
  std::size_t sweep(std::size_t entries) noexcept;
  // Forgets all usage and all blocks; counters, permits, reservations and overrides stay.
  void clear() noexcept;
  [[nodiscard]] const MemoryOptions& options() const noexcept { return options_; }

 private:
  struct Planned;  // one check of a request, with its shard and slot
  struct Plan;     // all of them

  [[nodiscard]] Shard& shard_of(const Hash128& hash) const noexcept {
    return *shards_[(hash.high >> (64U - kShardBits)) & shard_mask_];
  }
  [[nodiscard]] Hash128 hash_of(const core::LimitKey& name) const noexcept;
  [[nodiscard]] Instant now() const noexcept;
  // The calls above for the key with this hash.
  [[nodiscard]] Decision check(const Hash128& hash, const Quota& quota, Cost cost) noexcept;
  Decision refund(const Hash128& hash, const Quota& quota, Cost cost, Instant present) noexcept;
  bool reset(const Hash128& hash) noexcept;
  bool block(const Hash128& hash, Duration duration) noexcept;
  [[nodiscard]] Planned planned(const core::NamedCheck& check) const noexcept;
  [[nodiscard]] Decision decide_all(Plan& plan, std::span<Decision> each) noexcept;

  const MemoryOptions options_;
  KeyHasher hasher_;
  const Clock& clock_;
  Bounds bounds_;
  std::uint64_t shard_mask_ = 0;
  std::vector<std::unique_ptr<Shard>> shards_;  // a power of two of them
  CounterTable counters_;
  PermitTable permits_;
  ReservationTable reservations_;
  OperatorTable operators_;
  std::atomic<std::size_t> next_swept_{0};
};

}  // namespace penstock::store
