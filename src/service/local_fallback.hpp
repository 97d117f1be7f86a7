#pragma once

#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "service/membership.hpp"
#include "service/outage_ledger.hpp"
#include "store/sharded_table.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::service {

// What this node enforces by itself while the shared store is gone: every limit divided by the
// number of nodes. All workers of a node share one.
//
// It keeps two things apart, and a request has to fit both:
// - what this node admitted without the store. Nothing that the store says makes it less, or a
// store
//   that comes and goes would grant a new burst each time. So over all outages of any length T
//   together the nodes admit no more than (burst + rate x T), plus what rounding up to one unit
//   adds.
// - what the store last said of a key: this node's part of its usage, and a block. The node begins
//   there when the store is gone. It is forgotten when the key is refunded, reset, blocked or
//   unblocked by anybody, and all of it when such a change may have been missed.
//
// What it admits is noted for the store, for limits that remember so long that it matters: see
// needs_reconciliation().
//
// Thread-safety: all members, from any thread.
class LocalFallback {
 public:
  // Nothing: behind a store that cannot be gone.
  enum class Recall : std::uint8_t { StoreState, Nothing };

  // What the store said is kept in a memory like this one. REQUIRES: both outlive it.
  LocalFallback(store::ShardedTable& memory, const Membership& members,
                Recall recall = Recall::StoreState)
      : memory_(memory), members_(members), recall_(recall), store_state_(memory.options()) {}

  // All pass, or nothing is taken from any. REQUIRES: no name appears twice.
  [[nodiscard]] std::vector<Decision> check(std::vector<core::NamedCheck> checks);

  // Undoes a check that passed. REQUIRES: no name appears twice.
  void undo(std::vector<core::NamedCheck> checks);

  // Hears what the shared store said about a limit that this node would have to enforce. `changes`
  // is what changes() was when the store was asked: an answer that a change may have overtaken is
  // not kept.
  void remember(const core::NamedCheck& check, const Decision& said,
                std::uint64_t changes) noexcept {
    if (recall_ == Recall::StoreState && changes == this->changes()) keep(check, said);
  }
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return changes_.load(std::memory_order_acquire);
  }

  enum class Change : std::uint8_t {
    Refunded,
    Manual,  // it was reset, blocked or unblocked: what this node admitted is forgotten too
  };
  // Somebody changed this key in the shared store.
  void forget(const core::LimitKey& name, Change change) noexcept;
  // Any key may have been changed.
  void forget_store_state() noexcept;

  // Whether the store is told afterwards what was admitted without it: of a limit that remembers
  // for a minute or more. What is older than a shorter one remembers is gone by the time that the
  // store is back.
  static constexpr Duration kMinReconciledWindow = std::chrono::minutes{1};
  [[nodiscard]] static bool needs_reconciliation(const Quota& quota) noexcept;

  // Takes so many names at the most out of the ledger, with what of their units still counts.
  [[nodiscard]] std::vector<OutageLedger::Entry> take_unreported(std::size_t most);
  [[nodiscard]] OutageLedger& ledger() noexcept { return ledger_; }
  [[nodiscard]] const OutageLedger& ledger() const noexcept { return ledger_; }

  // Its part of a limit.
  [[nodiscard]] Quota share_of(const Quota& quota) const;

 private:
  void keep(const core::NamedCheck& check, const Decision& said) noexcept;
  // REQUIRES: quotas are this node's part.
  [[nodiscard]] std::vector<Decision> decide(std::span<const core::NamedCheck> checks);

  store::ShardedTable& memory_;  // what this node admitted
  const Membership& members_;
  const Recall recall_;
  store::ShardedTable store_state_;  // what the store said, and what was admitted since
  std::atomic<std::uint64_t> changes_{0};
  OutageLedger ledger_;
};

}  // namespace penstock::service
