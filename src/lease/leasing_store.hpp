#pragma once

#include "lease/denial_cache.hpp"
#include "lease/hotness.hpp"
#include "lease/key_versions.hpp"
#include "lease/lease_table.hpp"
#include "store/key_hasher.hpp"
#include "store/lease_source.hpp"
#include "store/sharded_table.hpp"
#include "store/store.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace penstock::lease {

// Stands before the shared store and answers what it can without it: by leases, by refusals that
// still hold, or, for limits of this node alone, by its own memory. How, is up to the terms of each
// check; everything else is passed on. Each event loop has one, which is one holder of leases.
//
// Thread-safety: none; everything happens on one event loop.
class LeasingStore final : public store::Store, public store::LeaseSource {
 public:
  template <class Value>
  using Answered = store::Store::Answered<Value>;

  struct Dependencies {
    store::LeaseSource& leases;
    store::ShardedTable& memory;        // of limits of this node alone
    std::function<unsigned()> nodes{};  // that share the limits
    unsigned holders_per_node = 1;
    Duration timeout{};                                 // of a call
    std::function<void(std::function<void()>)> post{};  // does it at the end of this tick
    // Does it then, and no longer what it was to do at the moment that it was told before. Without
    // it, whoever waits for a lease hears at the first answer after its deadline.
    std::function<void(base::Deadline, std::function<void()>)> wake_at{};
    // Of all workers of this node. Without it, the store has its own.
    std::shared_ptr<KeyVersions> versions{};
  };

  // REQUIRES: the dependencies outlive it, and `leases` is `shared` or lives as long.
  LeasingStore(std::unique_ptr<store::Store> shared, Dependencies dependencies);
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

  // Units for others of this node than requests: passed on.
  void lease(std::vector<store::LeaseRequest> asks, base::Deadline deadline,
             store::LeaseSource::Answered answered) override;

  void add(CounterKind kind, std::string name, std::int64_t delta, std::optional<Duration> lifetime,
           base::Deadline deadline, Answered<std::int64_t> answered) override;
  void get(CounterKind kind, std::string name, base::Deadline deadline,
           Answered<std::int64_t> answered) override;
  void remove(std::string name, base::Deadline deadline, Answered<bool> answered) override;
  void read_counter(std::string name, base::Deadline deadline, Answered<Counter> answered) override;
  void expire(std::string name, Duration lifetime, ExpireCondition condition,
              base::Deadline deadline, Answered<bool> answered) override;
  [[nodiscard]] Health health() const override;
  [[nodiscard]] store::ReservationStore& reservations() override { return shared_.reservations(); }
  [[nodiscard]] store::PermitStore& permits() override { return shared_.permits(); }

  // Somebody changed it, here or elsewhere: what is known of it may be wrong. `Worse` when what is
  // in hand must not be spent either: it was reset or blocked.
  enum class Change : std::uint8_t { Refunded, Revoked };
  void forget(const core::LimitKey& name, Change change);
  // Nobody knows what was changed. What is in hand is spent.
  void forget_all();
  // Gives back what can be given back; done when the store has heard, or did not answer in time.
  void shutdown(std::function<void()> done);

  [[nodiscard]] std::size_t denials() const { return denials_.size(); }

 private:
  friend class LeasedRequest;

  // Requests with more limits take the long way.
  static constexpr std::size_t kInlineLimits = 8;

  // Who decides about a limit.
  enum class Decider : std::uint8_t { Leased, Local, Shared };

  [[nodiscard]] store::Hash128 hash_of(const core::LimitKey& name) const;
  // What is leased for this check, if there is something already.
  [[nodiscard]] KeyLease* find_lease(const store::Hash128& hash, const core::NamedCheck& check,
                                     base::Deadline now);
  // The same, or a new one where the terms say so; null when the shared store decides.
  [[nodiscard]] KeyLease* lease_for(const store::Hash128& hash, const core::NamedCheck& check,
                                    base::Deadline now);
  [[nodiscard]] Decider decider_of(const store::Hash128& hash, const core::NamedCheck& check,
                                   base::Deadline now);
  // When a limit refuses for certain, and the others refuse for certain or have room, as far as
  // this node knows: into the decisions. Else the store has to be asked, or a limit that refuses
  // would be shown as one that does not.
  [[nodiscard]] bool repeat_denial(std::span<const core::NamedCheck* const> checks,
                                   std::span<const store::Hash128> hashes,
                                   std::span<Decision> decisions, base::Deadline now);
  [[nodiscard]] std::optional<Decision> certain_denial(const store::Hash128& hash,
                                                       const core::NamedCheck& check,
                                                       base::Deadline now);
  // What a limit has, for a request that another refuses; empty when it has no room for the cost,
  // or when it is unknown here.
  [[nodiscard]] std::optional<Decision> snapshot(const store::Hash128& hash,
                                                 const core::NamedCheck& check, base::Deadline now);
  enum class Remember : std::uint8_t { Denials, Always };
  void ask_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                  Answered<Decisions> answered, Remember remember = Remember::Denials);
  // One limit of a call to the shared store, and what has to be known to remember its answer.
  struct AskedLimit {
    store::Hash128 hash;
    Quota quota;
    Cost cost;
    std::uint32_t version = 0;
    bool is_alone = true;    // the request asks for this key once
    bool is_leased = false;  // now and then
  };
  struct AskedCall {
    std::vector<AskedLimit> limits;
    std::uint64_t gaps = 0;
    base::Deadline at{};
  };
  [[nodiscard]] std::vector<AskedLimit> asked_limits(
      std::span<const core::NamedCheck> checks) const;
  void note_answer(const AskedCall& call, const Decisions& said, Remember remember);
  // Of units that were leased.
  void note_charge(const store::Hash128& hash, const Result<store::LeaseGrant>& grant);
  void refund_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                     Answered<Decisions> answered);
  // A check of this node was admitted by the shared store.
  void note_admitted(const store::Hash128& hash, const Quota& quota, Cost cost,
                     const Decision& said, base::Deadline asked);
  void ask_soon(const LeaseTable::Key& key, base::Deadline now);
  void post_asking();
  void ask_for_leases();
  // Looks at it again when a waiting request times out, or what is left is to be returned.
  void watch(const LeaseTable::Key& key);
  void wake_later();
  void serve_due_timers();
  [[nodiscard]] core::NamedCheck node_share(const core::NamedCheck& check) const;

  Dependencies dependencies_;
  std::shared_ptr<KeyVersions> versions_;
  const store::KeyHasher& hasher_;
  std::shared_ptr<LeasingStore*> self_;  // what is posted finds the store, if it is still there
  LeaseTable table_;
  DenialCache denials_;
  Hotness hotness_;
  Health stats_;            // its numbers of leases
  std::uint64_t gaps_ = 0;  // an answer that was asked for before one is not remembered
  std::multimap<base::Deadline, LeaseTable::Key> watched_;  // when to look at which
  base::Deadline next_wakeup_ = base::Deadline::max();
  base::Deadline last_wakeup_{};
  bool is_posted_ = false;
  bool is_closing_ = false;
  store::Store& shared_;
  std::unique_ptr<store::Store> owned_;  // the same
};

}  // namespace penstock::lease
