#pragma once

#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "service/membership.hpp"
#include "service/outage_ledger.hpp"
#include "store/memory_store.hpp"

#include <cstdint>
#include <vector>

namespace penstock::service {

// What this node enforces by itself while the shared store is gone: every limit divided by the
// number of nodes. All workers of a node share one.
//
// It begins where the store stopped: of what the store last called used, this node's part counts as
// used here. What counts here is never made less by what the store says, or a store that comes and
// goes would grant a new burst each time. So over all outages of any length T together the nodes
// admit no more than (burst + rate x T), plus what rounding up to one unit adds.
//
// What it admits is noted for the store, for limits that remember so long that it matters: see
// is_worth_telling().
//
// Thread-safety: all members, from any thread.
class LocalShare {
 public:
  // Nothing: behind a store that cannot be gone.
  enum class Recall : std::uint8_t { WhatTheStoreSaid, Nothing };

  // REQUIRES: both outlive it.
  LocalShare(store::MemoryStore& memory, const Membership& members,
             Recall recall = Recall::WhatTheStoreSaid) noexcept
      : memory_(memory), members_(members), recall_(recall) {}

  // All pass, or nothing is taken from any. REQUIRES: no name appears twice.
  [[nodiscard]] std::vector<Decision> check(std::vector<core::NamedCheck> checks);

  // Undoes a check that passed. REQUIRES: no name appears twice.
  void undo(std::vector<core::NamedCheck> checks);

  // Hears what the shared store said about a limit that this node would have to enforce.
  void remember(const core::NamedCheck& check, const Decision& said) noexcept {
    if (recall_ == Recall::WhatTheStoreSaid) keep(check, said);
  }

  // Whether the store is told afterwards what was admitted without it: of a limit that remembers
  // for a minute or more. What is older than a shorter one remembers is gone by the time that the
  // store is back.
  static constexpr Duration kWorthTelling = std::chrono::minutes{1};
  [[nodiscard]] static bool is_worth_telling(const Quota& quota) noexcept;

  // Takes so many names at the most out of the ledger, with what of their units still counts.
  [[nodiscard]] std::vector<OutageLedger::Entry> take_debts(std::size_t most);
  [[nodiscard]] OutageLedger& ledger() noexcept { return ledger_; }
  [[nodiscard]] const OutageLedger& ledger() const noexcept { return ledger_; }

  // Its part of a limit.
  [[nodiscard]] Quota share_of(const Quota& quota) const;

 private:
  void keep(const core::NamedCheck& check, const Decision& said) noexcept;

  store::MemoryStore& memory_;
  const Membership& members_;
  const Recall recall_;
  OutageLedger ledger_;
};

}  // namespace penstock::service
