#pragma once

#include "base/spin_lock.hpp"
#include "core/any_state.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/memory_options.hpp"
#include "store/quota_table.hpp"
#include "store/slot_table.hpp"

#include <atomic>
#include <optional>
#include <unordered_map>
#include <vector>

namespace penstock::store {

// The slot of a limit's usage, and the key that may block it: the same, but for the
// named limits of one key.
struct Target {
  Hash128 slot;
  Hash128 owner;
};

// What all shards share.
struct Bounds {
  std::uint64_t max_keys = 0;
  std::uint64_t max_heap_bytes = 0;
  std::uint64_t max_blocks_per_shard = 0;
  // Both count what is there; relaxed, because each shard looks only at its own slots and these
  // merely say when to make room.
  std::atomic<std::uint64_t> keys{0};
  std::atomic<std::uint64_t> heap_bytes{0};
};

// One part of the store: the keys with the same hash prefix, and the lock that guards them.
//
// Thread-safety: every member but prefetch() REQUIRES the lock. Time never runs backwards in a
// shard: a `now` that is earlier than the last one counts as that one.
class alignas(64) Shard {
 public:
  // One of `shards`; the seed only spreads which neighbours are sampled.
  Shard(Bounds& bounds, std::size_t index, std::size_t shards, std::uint64_t random_seed) noexcept
      : table_(index, shards), random_(random_seed | 1U), bounds_(bounds) {}
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  base::SpinLock lock;

  // Decides, and takes the cost when it allows.
  [[nodiscard]] Decision decide(const Target& target, const Quota& quota, Cost cost, Instant now)
      PENSTOCK_REQUIRES(lock) {
    return answer({target, quota, cost, Purpose::Take}, now);
  }
  // Says what decide() would, and takes nothing.
  [[nodiscard]] Decision preview(const Target& target, const Quota& quota, Cost cost, Instant now)
      PENSTOCK_REQUIRES(lock) {
    return answer({target, quota, cost, Purpose::Peek}, now);
  }
  // Raises the usage to at least `used`, as if it were charged now; lifts a block.
  void raise_used(const Target& target, const Quota& quota, std::uint32_t used, Instant now)
      PENSTOCK_REQUIRES(lock);
  // Lowers the usage, whichever quota it was charged under.
  void refund(const Target& target, Cost cost, Instant now) PENSTOCK_REQUIRES(lock);
  [[nodiscard]] bool reset(const Hash128& slot, Instant now) PENSTOCK_REQUIRES(lock);
  // Whether it was blocked before. Zero or less unblocks.
  bool block(const Hash128& owner, Duration duration, Instant now) PENSTOCK_REQUIRES(lock);

  // Drops expired keys; a step visits a position or drops its key.
  // For callers without requests of their own. Returns how many were dropped.
  std::size_t sweep_idle(std::size_t steps, Instant now) PENSTOCK_REQUIRES(lock);
  // Drops all blocks and this many keys. Returns whether the shard is empty.
  [[nodiscard]] bool clear(std::size_t keys) PENSTOCK_REQUIRES(lock);
  // Enough to get around once, whatever has expired.
  [[nodiscard]] std::size_t steps_around() const PENSTOCK_REQUIRES(lock) {
    return table_.positions() + table_.size();
  }

  void add_to(MemoryStats& stats, Instant now) const PENSTOCK_REQUIRES(lock);

  void prefetch(const Hash128& slot) const noexcept PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    table_.prefetch(slot);
  }

 private:
  struct Counts {
    std::uint64_t expired = 0;
    std::uint64_t evicted = 0;
    std::uint64_t evicted_usage = 0;
    std::uint64_t blocks_evicted = 0;
  };

  enum class Purpose : std::uint8_t { Take, Peek };
  struct Question {
    const Target& target;
    const Quota& quota;
    Cost cost;
    Purpose purpose;

    [[nodiscard]] bool takes_when(const Decision& decision) const noexcept {
      return decision.allowed() && cost.units > 0 && purpose == Purpose::Take;
    }
  };

  [[nodiscard]] Decision answer(const Question& question, Instant now) PENSTOCK_REQUIRES(lock);
  Instant advance_to(Instant now) PENSTOCK_REQUIRES(lock);
  std::optional<Decision> blocked(const Hash128& owner, const Quota& quota, Instant now)
      PENSTOCK_REQUIRES(lock);

  template <class Algorithm>
  Decision answer_in_slot(Slot* slot, const Question& question, Instant now)
      PENSTOCK_REQUIRES(lock);
  template <class Algorithm>
  Decision answer_on_heap(Slot* slot, const Question& question, Instant now)
      PENSTOCK_REQUIRES(lock);
  // Of a key that was last admitted under another quota.
  Decision answer_changed(Slot* slot, const Question& question, Instant now)
      PENSTOCK_REQUIRES(lock);

  [[nodiscard]] core::AnyState load_any(const Slot& slot) const PENSTOCK_REQUIRES(lock);
  void replace(Slot* slot, const Quota& quota, core::AnyState state, Instant now)
      PENSTOCK_REQUIRES(lock);
  [[nodiscard]] Slot* insert(const Hash128& hash, const Quota& quota, Instant now)
      PENSTOCK_REQUIRES(lock);
  void erase(Slot* slot) PENSTOCK_REQUIRES(lock);
  template <class Algorithm>
  void put_on_heap(Slot& slot, typename Algorithm::State state) PENSTOCK_REQUIRES(lock);
  void free_heap(Slot& slot) PENSTOCK_REQUIRES(lock);
  void count_heap_bytes(std::size_t before, std::size_t after) PENSTOCK_REQUIRES(lock);

  // The fullest slot of a sample so far.
  struct Candidate {
    Slot* slot = nullptr;
    std::uint64_t used = 0;
    std::uint64_t share_used = ~std::uint64_t{0};
  };
  void consider(Slot* slot, Candidate& fullest, Instant now) const PENSTOCK_REQUIRES(lock);
  void evict(const Candidate& candidate) PENSTOCK_REQUIRES(lock);
  bool unblock(const Hash128& owner, Instant now) PENSTOCK_REQUIRES(lock);
  void drop_ended_blocks(Instant now) PENSTOCK_REQUIRES(lock);
  [[nodiscard]] Slot* random_slot() PENSTOCK_REQUIRES(lock);
  // Out of a sample, drops the key that has the most of its quota left. Returns whether there was
  // one.
  bool evict_key(Instant now) PENSTOCK_REQUIRES(lock);
  // Does so with keys that have a log until all logs are within their bound, or `keep` alone is
  // left here.
  void evict_logs(Hash128 keep, Instant now) PENSTOCK_REQUIRES(lock);
  [[nodiscard]] std::uint32_t used(const Slot& slot, Instant now) const PENSTOCK_REQUIRES(lock);
  std::size_t sweep(std::size_t steps, Instant now) PENSTOCK_REQUIRES(lock);
  [[nodiscard]] bool has_expired(const Slot& slot, Instant now) const PENSTOCK_REQUIRES(lock);
  std::uint64_t random() PENSTOCK_REQUIRES(lock);

  // What every decision reads comes first and shares a cache line with the lock, as far as it fits.
  // Guarded by lock:
  bool any_blocked_ PENSTOCK_GUARDED_BY(lock) = false;  // whether blocked_until_ has entries
  Instant latest_ PENSTOCK_GUARDED_BY(lock){};
  SlotTable table_ PENSTOCK_GUARDED_BY(lock);
  QuotaTable quotas_ PENSTOCK_GUARDED_BY(lock);
  std::vector<Hash128> logs_ PENSTOCK_GUARDED_BY(lock);  // the slots that have a state on the heap
  std::unordered_map<Hash128, Instant, Hash128Bucket> blocked_until_ PENSTOCK_GUARDED_BY(lock);
  std::size_t sweep_position_ PENSTOCK_GUARDED_BY(lock) = 0;
  std::uint64_t random_ PENSTOCK_GUARDED_BY(lock);
  Counts counts_ PENSTOCK_GUARDED_BY(lock);

  Bounds& bounds_;
};

}  // namespace penstock::store
