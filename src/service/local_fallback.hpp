#pragma once

#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "service/membership.hpp"
#include "store/sharded_table.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace penstock::service {

// Units that this node admitted while the shared store was unavailable, and has not reported yet.
//
// Each entry is taken once, so that it is never reported twice.
//
// Thread-safety: all members, from any thread.
class OutageLedger {
 public:
  struct Entry {
    core::LimitKey name;
    Quota quota;  // undivided
    std::uint64_t units = 0;
  };
  struct Totals {
    std::uint64_t names = 0;     // not reported yet
    std::uint64_t reported = 0;  // units that the store has charged
    std::uint64_t lost = 0;      // units that are never reported
  };

  // Some 20 MB of names of usual length.
  static constexpr std::size_t kMaxNames = 65'536;
  explicit OutageLedger(std::size_t max_names = kMaxNames) : max_names_(max_names) {}

  // When it is full, units of a new name are lost, and counted as such.
  void note(const core::LimitKey& name, const Quota& quota, std::uint64_t units);
  // These units were not admitted after all. Entries that were taken in between stay taken.
  void remove(const core::LimitKey& name, std::uint64_t units);
  [[nodiscard]] std::vector<Entry> take(std::size_t most);

  // What became of an entry that was taken.
  void count_reported(std::uint64_t units) noexcept;
  void count_lost(std::uint64_t units) noexcept;

  [[nodiscard]] bool is_empty() const noexcept {
    return names_.load(std::memory_order_relaxed) == 0;  // relaxed: callers poll
  }
  [[nodiscard]] Totals totals() const noexcept;

 private:
  struct Record {
    Quota quota;
    std::uint64_t units = 0;
  };

  const std::size_t max_names_;
  // relaxed, all three: numbers by themselves
  std::atomic<std::uint64_t> names_{0};
  std::atomic<std::uint64_t> reported_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  // Guarded by mutex_. Ordered, not hashed: clients choose the names.
  std::map<core::LimitKey, Record> records_;
};

// Decides locally while the shared store is unavailable: every limit divided by the number of
// nodes. All workers of a node share one.
//
// It keeps two states, and a request must fit both:
// - Usage that this node admitted without the store. Answers of the store never lower it, or a
// flapping store would grant a new burst each time. So over all outages of total length T, the
// nodes admit at most burst + rate x T, plus rounding up to one unit.
// - The last known state of the store: this node's share of the usage, and blocks. The node starts
// from it when the store becomes unavailable. A refund, reset, block or unblock of a key by any
// client discards its state; all of it is discarded when such a change may have been missed.
//
// Admitted units are recorded for outage reconciliation; see needs_reconciliation().
//
// Thread-safety: all members, from any thread.
class LocalFallback {
 public:
  // Nothing: for a store that is always available.
  enum class Recall : std::uint8_t { StoreState, Nothing };

  // The state of the store is kept in a table with the same options. REQUIRES: both outlive it.
  LocalFallback(store::ShardedTable& memory, const Membership& members,
                Recall recall = Recall::StoreState)
      : memory_(memory), members_(members), recall_(recall), store_state_(memory.options()) {}

  // All or nothing. REQUIRES: no name appears twice.
  [[nodiscard]] std::vector<Decision> check(std::vector<core::NamedCheck> checks);

  // Undoes a check that passed. REQUIRES: no name appears twice.
  void undo(std::vector<core::NamedCheck> checks);

  // Notes a decision of the shared store. `changes` is changes() at the time of the call: a
  // decision that a change may have overtaken is not kept.
  void remember(const core::NamedCheck& check, const Decision& said,
                std::uint64_t changes) noexcept {
    if (recall_ == Recall::StoreState && changes == this->changes()) keep(check, said);
  }
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return changes_.load(std::memory_order_acquire);
  }

  enum class Change : std::uint8_t {
    Refunded,
    Manual,  // reset, blocked or unblocked: also discards local usage
  };
  // This key was changed in the shared store.
  void forget(const core::LimitKey& name, Change change) noexcept;
  // Any key may have been changed.
  void forget_store_state() noexcept;

  // Whether admitted units of this limit are reported to the store after the outage: limits with a
  // window of a minute or more. Usage of shorter ones has expired by then.
  static constexpr Duration kMinReconciledWindow = std::chrono::minutes{1};
  [[nodiscard]] static bool needs_reconciliation(const Quota& quota) noexcept;

  // Takes at most `most` names out of the ledger, with those units that have not expired.
  [[nodiscard]] std::vector<OutageLedger::Entry> take_unreported(std::size_t most);
  [[nodiscard]] OutageLedger& ledger() noexcept { return ledger_; }
  [[nodiscard]] const OutageLedger& ledger() const noexcept { return ledger_; }

  // This node's share of a limit.
  [[nodiscard]] Quota share_of(const Quota& quota) const;

 private:
  void keep(const core::NamedCheck& check, const Decision& said) noexcept;
  // REQUIRES: quotas are this node's share.
  [[nodiscard]] std::vector<Decision> decide(std::span<const core::NamedCheck> checks);

  store::ShardedTable& memory_;  // what this node admitted
  const Membership& members_;
  const Recall recall_;
  store::ShardedTable store_state_;  // what the store said, and what was admitted since
  std::atomic<std::uint64_t> changes_{0};
  OutageLedger ledger_;
};

}  // namespace penstock::service
