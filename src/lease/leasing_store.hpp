#pragma once

#include "lease/denial_cache.hpp"
#include "lease/hotness.hpp"
#include "lease/lease_table.hpp"
#include "store/key_hasher.hpp"
#include "store/lease_source.hpp"
#include "store/sharded_table.hpp"
#include "store/stores.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace penstock::lease {

// Decorates the shared store and answers what it can locally: from leases, from the denial cache,
// or, for limits local to this node, from memory. The terms of each check select the way;
// everything else is forwarded. Each event loop has its own instance, which is one lease holder.
//
// Thread-safety: none; everything runs on one event loop.
class LeasingStore final : public store::LimitStore, public store::LeaseSource {
 public:
  template <class Value>
  using Answered = store::Answered<Value>;
  using Decisions = store::Decisions;

  struct Dependencies {
    store::LeaseSource& leases;
    store::ShardedTable& memory;        // of limits local to this node
    std::function<unsigned()> nodes{};  // that share the limits
    unsigned holders_per_node = 1;
    Duration timeout{};                                 // of a call
    std::function<void(std::function<void()>)> post{};  // runs it at the end of this tick
    // Runs the function at this time, and replaces the previous one. Without it, a waiter times out
    // at the first answer after its deadline.
    std::function<void(base::Deadline, std::function<void()>)> wake_at{};
    // Shared by all workers of this node. If empty, the store creates its own.
    std::shared_ptr<KeyVersions> versions{};
  };

  // REQUIRES: the dependencies outlive it, and `leases` is `shared` or lives as long.
  LeasingStore(std::unique_ptr<store::LimitStore> shared, Dependencies dependencies);
  ~LeasingStore() override;

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             Answered<Decisions> answered) override;
  [[nodiscard]] bool try_check(std::span<const core::NamedCheck* const> checks,
                               std::span<Decision> decisions) override;
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              Answered<Decisions> answered) override;
  void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
             Answered<bool> answered) override;
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
             Answered<bool> answered) override;

  // Units not for requests of this store: forwarded.
  void lease(std::vector<store::LeaseRequest> asks, base::Deadline deadline,
             OnGrant on_grant) override;

  // A key was changed, here or elsewhere: cached state may be wrong. `Revoked` after a reset or
  // block, when units in hand must not be spent either.
  enum class Change : std::uint8_t { Refunded, Revoked };
  void forget(const core::LimitKey& name, Change change);
  // Changes may have been missed: forgets all cached denials. Units in hand stay usable.
  void forget_all();
  // Of calls from now on.
  void set_timeout(Duration timeout) noexcept { dependencies_.timeout = timeout; }
  // Returns unspent units; calls `done` when the store has answered or timed out.
  void shutdown(std::function<void()> done);

  [[nodiscard]] store::LeaseStats stats() const;
  [[nodiscard]] std::size_t denials() const { return denials_.size(); }

 private:
  friend class LeasedRequest;

  // Requests with more limits take the slower path.
  static constexpr std::size_t kInlineLimits = 8;

  // Which component decides a limit.
  enum class Decider : std::uint8_t { Leased, Local, Shared };

  [[nodiscard]] store::Hash128 hash_of(const core::LimitKey& name) const;
  // The existing lease for this check, if any.
  [[nodiscard]] KeyLease* find_lease(const store::Hash128& hash, const core::NamedCheck& check,
                                     base::Deadline now);
  // The same, or a new one if the terms allow; null when the shared store decides.
  [[nodiscard]] KeyLease* lease_for(const store::Hash128& hash, const core::NamedCheck& check,
                                    base::Deadline now);
  [[nodiscard]] Decider decider_of(const store::Hash128& hash, const core::NamedCheck& check,
                                   base::Deadline now);
  // Fills the decisions when a limit certainly denies, and each other limit certainly denies or has
  // room, as far as this node knows. Otherwise the store has to decide, or a denying limit would be
  // reported as passing.
  [[nodiscard]] bool repeat_denial(std::span<const core::NamedCheck* const> checks,
                                   std::span<const store::Hash128> hashes,
                                   std::span<Decision> decisions, base::Deadline now);
  [[nodiscard]] std::optional<Decision> certain_denial(const store::Hash128& hash,
                                                       const core::NamedCheck& check,
                                                       base::Deadline now);
  // The numbers of a limit, for a request that another limit denies; empty when it has no room for
  // the cost, or is unknown here.
  [[nodiscard]] std::optional<Decision> snapshot(const store::Hash128& hash,
                                                 const core::NamedCheck& check, base::Deadline now);
  enum class Remember : std::uint8_t { Denials, Always };
  void ask_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                  Answered<Decisions> answered, Remember remember = Remember::Denials);
  // One limit of a call to the shared store, with what is needed to cache its answer.
  struct AskedLimit {
    store::Hash128 hash;
    Quota quota;
    Cost cost;
    std::uint32_t version = 0;
    bool is_alone = true;    // the request has this key once
    bool is_leased = false;  // the terms allow leases
  };
  struct AskedCall {
    std::vector<AskedLimit> limits;
    std::uint64_t gaps = 0;
    base::Deadline at{};
  };
  [[nodiscard]] std::vector<AskedLimit> asked_limits(
      std::span<const core::NamedCheck> checks) const;
  void note_answer(const AskedCall& call, const Decisions& said, Remember remember);
  // Of leased units.
  void note_charge(const store::Hash128& hash, const Result<store::LeaseGrant>& grant);
  void refund_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                     Answered<Decisions> answered);
  // The shared store admitted a check of this node.
  void note_admitted(const store::Hash128& hash, const Quota& quota, Cost cost,
                     const Decision& said, base::Deadline asked);
  void ask_soon(const LeaseTable::Key& key, base::Deadline now);
  void post_asking();
  void ask_for_leases();
  // Schedules a wakeup for when a waiting request times out or unspent units are to be returned.
  void watch(const LeaseTable::Key& key);
  void wake_later();
  void serve_due_timers();
  [[nodiscard]] core::NamedCheck node_share(const core::NamedCheck& check) const;

  Dependencies dependencies_;
  std::shared_ptr<KeyVersions> versions_;
  const store::KeyHasher& hasher_;
  std::shared_ptr<LeasingStore*> self_;  // for posted functions; null after destruction
  LeaseTable table_;
  DenialCache denials_;
  Hotness hotness_;
  store::LeaseStats stats_;
  std::uint64_t gaps_ = 0;                                  // answers to older calls are not cached
  std::multimap<base::Deadline, LeaseTable::Key> watched_;  // next wakeups
  base::Deadline next_wakeup_ = base::Deadline::max();
  base::Deadline last_wakeup_{};
  bool is_posted_ = false;
  bool is_closing_ = false;
  store::LimitStore& shared_;
  std::unique_ptr<store::LimitStore> owned_;  // the same
};

}  // namespace penstock::lease
