#pragma once

#include "base/deadline.hpp"
#include "core/named_check.hpp"
#include "lease/cached_decision.hpp"
#include "lease/lease_size.hpp"
#include "store/lease_source.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace penstock::lease {

// A request that waits for units from the store.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  // The lease that the units of an admitted request came from, for KeyLease::put_back().
  struct TakenUnits {
    std::uint64_t lease = 0;  // 0: of none, or of several leases
    std::uint64_t asks = 0;   // made before
    bool is_leased = false;   // not decided by the store
  };

  // Called once. `taken` is set for an admitted request.
  virtual void on_answer(const Result<Decision>& answer, const TakenUnits& taken) = 0;
};

// A waiter to answer, with its answer.
struct WaiterAnswer {
  Waiter* waiting = nullptr;
  Result<Decision> decision;
  Waiter::TakenUnits taken{};

  void notify() const { waiting->on_answer(decision, taken); }
};
using WaiterAnswers = std::vector<WaiterAnswer>;

// Bounds the leased units that may end unspent: one per this many admitted units. A lease exceeds
// the units of waiting requests only within this bound, so a limit too slow or too irregular to
// lease without waste is decided request by request.
struct WasteLimit {
  std::uint32_t returned = 32;  // buckets of lease_strict: unspent units are returned
  std::uint32_t strict = 256;   // windows of lease_strict, which lose them
  std::uint32_t plain = 64;     // lease and adaptive, which lose them
  std::uint64_t allowance = 0;  // to waste before anything is admitted: to test large leases
};

// The leases of this holder on one key under one quota, and the last known state of the store.
// Requests are admitted from the leases; more units are requested before they run out, by one call
// at a time.
//
// When too little is in hand, the store decides the request by an ordinary check if the lease is
// plain. A bucket of `lease_strict` has an escrow, which checks ignore: such a request waits for
// the next lease call, which decides it in the store (`cost`, `count`) in the order of arrival.
//
// A lease starts when it is requested, on this machine's clock, so that it ends here before the
// store stops counting it. A strict lease ends early enough to return its unspent units while the
// store still accounts for them.
//
// Thread-safety: none.
class KeyLease {
 public:
  KeyLease(core::LimitKey name, const Quota& quota, const core::SharingTerms& terms,
           base::Deadline now, const WasteLimit& waste = {});

  // Admits from the units in hand; for a strict bucket it may also deny. Empty: the store has to
  // decide. REQUIRES: cost > 0.
  [[nodiscard]] std::optional<Decision> take(Cost cost, base::Deadline now);
  // Whether take() would admit.
  [[nodiscard]] bool covers(Cost cost, base::Deadline now) const;
  // The answer of take(), if it would deny.
  [[nodiscard]] std::optional<Decision> certain_denial(Cost cost, base::Deadline now) const;
  // Revocable: the request may be put back because another limit denies it.
  enum class Use : std::uint8_t { Final, Revocable };
  // After take() returned nothing. Fails at the first answer after its deadline, or in
  // expire_waiters() if that is earlier. REQUIRES: is_strict(); `waiting` lives until it is
  // answered.
  void wait(Waiter& waiting, Cost cost, Use use, base::Deadline deadline = base::Deadline::max());
  static constexpr std::size_t kMaxWaiting = 65'536;
  [[nodiscard]] bool is_full() const noexcept { return waiting_.size() >= kMaxWaiting; }
  // A check of this node was admitted by the store. REQUIRES: !is_strict().
  void note_admitted(Cost cost, const Decision& said, base::Deadline asked, base::Deadline now);

  using TakenUnits = Waiter::TakenUnits;
  [[nodiscard]] const TakenUnits& last_taken() const noexcept { return taken_; }
  // Returns the units of a request that another limit denied. Units already reported to the store,
  // or of an ended lease, are lost: elsewhere they would be admitted twice.
  void put_back(Cost cost, const TakenUnits& taken, base::Deadline now);
  // The remaining units, for a request that another limit denies.
  [[nodiscard]] Decision snapshot(base::Deadline now) const;

  [[nodiscard]] bool needs_refill(base::Deadline now) const;
  // When to run without a request: a waiting request times out, or unspent units of a strict lease
  // are due. max() when there is nothing to do.
  [[nodiscard]] base::Deadline next_wakeup() const;
  // Ends expired leases. needs_refill() then returns whether the store needs a report.
  void end_leases(base::Deadline now);
  // `sharers` lease from the same key. REQUIRES: needs_refill() or reports to send.
  [[nodiscard]] store::LeaseRequest ask(std::uint32_t sharers, base::Deadline now);
  void on_grant(const Result<store::LeaseGrant>& grant, base::Deadline now, WaiterAnswers& answers);

  // Fails waiters after their deadline with Timeout.
  void expire_waiters(base::Deadline now, WaiterAnswers& answers);
  // Units in hand or in flight are not spent any more: strict leases are reported as returned,
  // others are lost.
  void drop(base::Deadline now);
  // The store may answer differently from now on, including the call in flight.
  void mark_stale();
  // Fails all waiters with this error.
  void fail(const Error& error, WaiterAnswers& answers);
  void adopt(const Quota& quota, const core::SharingTerms& terms, base::Deadline now);
  // A report that takes longer is considered lost.
  static constexpr Duration kReportTimeout = std::chrono::seconds{1};
  // Unspent units to return at shutdown: only of windows that still count them when the report
  // arrives. Returned to the next window, or to a bucket that has refilled meanwhile, they would
  // admit too many.
  [[nodiscard]] std::uint32_t returnable(base::Deadline now);

  [[nodiscard]] const core::LimitKey& name() const noexcept { return name_; }
  [[nodiscard]] const Quota& quota() const noexcept { return quota_; }
  [[nodiscard]] const core::SharingTerms& terms() const noexcept { return terms_; }
  [[nodiscard]] std::uint32_t in_hand(base::Deadline now);
  // A bucket with escrow: the store accounts for its leases.
  [[nodiscard]] bool is_strict() const noexcept {
    return terms_.mode == core::Mode::LeaseStrict && quota_.is_bucket();
  }
  [[nodiscard]] bool is_asking() const noexcept { return is_asking_; }
  [[nodiscard]] bool is_needed() const noexcept { return is_asking_ || !waiting_.empty(); }
  [[nodiscard]] bool has_reports() const;
  // Not in use.
  [[nodiscard]] bool is_idle(base::Deadline now) const;
  // Requested too rarely for a lease.
  [[nodiscard]] bool is_cold(base::Deadline now) const { return size_.is_cold(now); }

 private:
  struct Lease {
    std::uint32_t units = 0;
    std::uint32_t spent = 0;  // not reported to the store
    base::Deadline ends{};
    base::Deadline counts_until{};  // of a window
    std::int64_t epoch = 0;
    std::uint64_t number = 0;
  };
  struct WaitEntry {
    Waiter* waiting = nullptr;
    Cost cost{};
    base::Deadline deadline{};
    Use use = Use::Final;
    bool is_asked = false;  // decided by the call in flight
  };

  bool spend(std::uint64_t units, base::Deadline now);
  void report(const store::LeaseReport& news, base::Deadline since);
  // Returns whether the grant had expired before it arrived.
  bool apply_grant(const store::LeaseGrant& grant, bool is_stale, base::Deadline now);
  // Answers the requests that the store decided.
  void answer_asked(const store::LeaseGrant& grant, base::Deadline now, WaiterAnswers& answers);
  // Delays the next lease request.
  void pace();
  // Serves the other waiters, in order, from the units in hand.
  void serve(const store::LeaseGrant& grant, base::Deadline now, WaiterAnswers& answers);
  void ask_for_waiting(store::LeaseRequest& ask);
  void admit(std::uint64_t units, base::Deadline now);
  void waste(std::uint64_t units);
  // One unit may be wasted per this many admitted units.
  [[nodiscard]] std::uint64_t waste_share() const noexcept;
  // Units to lease beyond the waiting requests; 0 when too few to be worth a lease.
  [[nodiscard]] std::uint64_t wanted(base::Deadline now) const;
  [[nodiscard]] std::uint64_t shortfall(Cost cost) const;
  [[nodiscard]] base::Deadline::duration counts_for(base::Deadline now) const;
  [[nodiscard]] Decision paced(Cost cost, base::Deadline now) const;

  core::LimitKey name_;
  Quota quota_;
  core::SharingTerms terms_;
  WasteLimit waste_;
  LeaseSize size_;
  std::uint64_t credit_ = 0;   // earned by admissions, spent by waste
  std::vector<Lease> leases_;  // the oldest first
  std::uint32_t units_ = 0;    // of all leases
  std::deque<WaitEntry> waiting_;
  base::Deadline first_deadline_ = base::Deadline::max();  // of the waiters, or earlier
  std::vector<store::LeaseReport> reports_;                // of ended leases; strict only
  std::vector<store::LeaseReport> reports_in_flight_;      // by the call in flight
  std::optional<CachedDecision> denial_;  // of the last answer, if it left no units
  Decision last_decision_{};              // the last answer of the store
  base::Deadline received_at_{};
  base::Deadline asked_at_{};
  base::Deadline window_ends_{};  // of the last grant; sub-window for sub_windows
  base::Deadline ask_after_{};    // no lease request before, after the store had nothing left
  base::Deadline used_at_{};
  base::Deadline reported_at_{};  // when the newest of reports_ ended
  std::uint32_t needed_ = 0;      // as a lease, by the first waiter
  std::uint64_t low_water_ = 0;   // of the last request
  TakenUnits taken_{};
  std::uint64_t asks_ = 1;
  std::uint64_t leases_received_ = 0;
  std::uint64_t wanted_ = 0;  // by the last request, beyond the waiters
  bool is_drained_ = false;   // the store had much less: hot and exhausted
  bool is_asking_ = false;
  bool is_outdated_ = false;  // the lease in flight was dropped
  bool is_stale_ = false;     // the answer in flight may deny wrongly
};

}  // namespace penstock::lease
