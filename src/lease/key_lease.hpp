#pragma once

#include "base/deadline.hpp"
#include "core/sharing_terms.hpp"
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

// Who waits for units that have to be asked for.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  // Which lease the units of an admitted request came from, for KeyLease::put_back().
  struct TakenUnits {
    std::uint64_t lease = 0;  // 0: of none, or of several
    std::uint64_t asks = 0;   // made before
    bool is_leased = false;   // and not decided by the store
  };

  // Once. `taken` is of a request that was admitted.
  virtual void on_answer(const Result<Decision>& answer, const TakenUnits& taken) = 0;
};

// One that need not wait any longer, with what it is told.
struct WaiterAnswer {
  Waiter* waiting = nullptr;
  Result<Decision> decision;
  Waiter::TakenUnits taken{};

  void notify() const { waiting->on_answer(decision, taken); }
};
using WaiterAnswers = std::vector<WaiterAnswer>;

// How much of what is leased may end unspent: one unit per this many admitted units. What a lease
// holds beyond the requests that wait for it stays within this, so that a limit too slow or too
// irregular to be leased without waste is decided request by request.
struct WasteLimit {
  std::uint32_t returned = 32;  // buckets of lease_strict, whose units go back when a lease ends
  std::uint32_t strict = 256;   // windows of lease_strict, which lose them
  std::uint32_t plain = 64;     // lease and adaptive, which lose them
  std::uint64_t allowance = 0;  // to waste before anything is admitted: to test large leases
};

// What this holder has leased of one count under one quota, and what it knows of the rest. Requests
// are admitted out of it, and the store is asked for more before it runs out, by one call at a
// time.
//
// A request that finds too little in hand is decided by the store like any other check, if the
// lease is plain. A bucket of `lease_strict` has an escrow, which checks do not know: such a
// request waits for the next ask, which decides it in the store (`cost`, `count`) in the order of
// arrival.
//
// A lease counts from the moment it was asked for, on this machine's clock, so that it is over here
// before the store stops counting it. A strict lease ends early enough that what is left of it is
// returned while the store still accounts for it.
//
// Thread-safety: none.
class KeyLease {
 public:
  KeyLease(core::LimitKey name, const Quota& quota, const core::SharingTerms& terms,
           base::Deadline now, const WasteLimit& waste = {});

  // Out of what is in hand; of a strict bucket also denied for certain. Empty: the store has to be
  // asked. REQUIRES: cost > 0.
  [[nodiscard]] std::optional<Decision> take(Cost cost, base::Deadline now);
  // Whether take() would admit.
  [[nodiscard]] bool covers(Cost cost, base::Deadline now) const;
  // What take() would say, if it would deny.
  [[nodiscard]] std::optional<Decision> certain_denial(Cost cost, base::Deadline now) const;
  // Whether the request is admitted for good once this limit admits it, or may be put back because
  // another limit denies it.
  enum class Use : std::uint8_t { Final, Revocable };
  // After take() had no answer. Hears of a failure at the first answer after its deadline, or from
  // expire_waiters() if that is sooner.
  // REQUIRES: is_strict(); `waiting` stays until it has heard.
  void wait(Waiter& waiting, Cost cost, Use use, base::Deadline deadline = base::Deadline::max());
  static constexpr std::size_t kMaxWaiting = 65'536;
  [[nodiscard]] bool is_full() const noexcept { return waiting_.size() >= kMaxWaiting; }
  // The store admitted a request of this node by a check. REQUIRES: !is_strict().
  void note_admitted(Cost cost, const Decision& said, base::Deadline asked, base::Deadline now);

  using TakenUnits = Waiter::TakenUnits;
  [[nodiscard]] const TakenUnits& last_taken() const noexcept { return taken_; }
  // Of a request that took, and was then refused by another limit. What the store has been told
  // about already, or what is over, is lost: elsewhere it would be one too many.
  void put_back(Cost cost, const TakenUnits& taken, base::Deadline now);
  // What it has, for a request that another limit refuses.
  [[nodiscard]] Decision snapshot(base::Deadline now) const;

  [[nodiscard]] bool needs_refill(base::Deadline now) const;
  // When to look at it again without a request: a waiting request times out, or what is left of a
  // strict lease is to be returned. max() when there is nothing to do.
  [[nodiscard]] base::Deadline next_wakeup() const;
  // Ends leases that are over. needs_refill() says whether the store is to hear of it.
  void end_leases(base::Deadline now);
  // `sharers` take from the same count. REQUIRES: it wants to, or gives back.
  [[nodiscard]] store::LeaseRequest ask(std::uint32_t sharers, base::Deadline now);
  void on_grant(const Result<store::LeaseGrant>& grant, base::Deadline now, WaiterAnswers& answers);

  // Those whose deadline has passed hear that they have waited in vain.
  void expire_waiters(base::Deadline now, WaiterAnswers& answers);
  // What is in hand or on its way is not spent any more: the store hears of strict leases that they
  // are returned, others are lost.
  void drop(base::Deadline now);
  // The store may say something else now than it said last, or is saying.
  void mark_stale();
  // Everybody who waits hears this error.
  void fail(const Error& error, WaiterAnswers& answers);
  void adopt(const Quota& quota, const core::SharingTerms& terms, base::Deadline now);
  // What the store has heard by then, or it never will.
  static constexpr Duration kReportTimeout = std::chrono::seconds{1};
  // Units in hand that nobody will spend, for a shutdown: of windows that still count them when
  // the store hears of it. Given back to the next window, or to a bucket that has refilled
  // meanwhile, they would admit too many.
  [[nodiscard]] std::uint32_t returnable(base::Deadline now);

  [[nodiscard]] const core::LimitKey& name() const noexcept { return name_; }
  [[nodiscard]] const Quota& quota() const noexcept { return quota_; }
  [[nodiscard]] const core::SharingTerms& terms() const noexcept { return terms_; }
  [[nodiscard]] std::uint32_t in_hand(base::Deadline now);
  // A bucket whose leases the store keeps account of.
  [[nodiscard]] bool is_strict() const noexcept {
    return terms_.mode == core::Mode::LeaseStrict && quota_.is_bucket();
  }
  [[nodiscard]] bool is_asking() const noexcept { return is_asking_; }
  [[nodiscard]] bool is_needed() const noexcept { return is_asking_ || !waiting_.empty(); }
  [[nodiscard]] bool has_reports() const;
  // Nobody needs it.
  [[nodiscard]] bool is_idle(base::Deadline now) const;
  // Asked for so seldom that a lease is not worth it.
  [[nodiscard]] bool is_cold(base::Deadline now) const { return size_.is_cold(now); }

 private:
  struct Lease {
    std::uint32_t units = 0;
    std::uint32_t spent = 0;  // which the store has not been told
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
    bool is_asked = false;  // is decided by the call in flight
  };

  bool spend(std::uint64_t units, base::Deadline now);
  void report(const store::LeaseReport& news, base::Deadline since);
  // Whether it was over before it arrived.
  bool apply_grant(const store::LeaseGrant& grant, bool is_stale, base::Deadline now);
  // Those that the store decided, by what it said.
  void answer_asked(const store::LeaseGrant& grant, base::Deadline now, WaiterAnswers& answers);
  // Nothing is asked for a while.
  void pace();
  // The others, in their order, out of what is in hand.
  void serve(const store::LeaseGrant& grant, base::Deadline now, WaiterAnswers& answers);
  void ask_for_waiting(store::LeaseRequest& ask);
  void admit(std::uint64_t units, base::Deadline now);
  void waste(std::uint64_t units);
  // One unit may be wasted per this many admitted units.
  [[nodiscard]] std::uint64_t waste_share() const noexcept;
  // What to lease beyond the requests that wait: nothing when it is too little to be worth it.
  [[nodiscard]] std::uint64_t wanted(base::Deadline now) const;
  [[nodiscard]] std::uint64_t shortfall(Cost cost) const;
  [[nodiscard]] base::Deadline::duration counts_for(base::Deadline now) const;
  [[nodiscard]] Decision paced(Cost cost, base::Deadline now) const;

  core::LimitKey name_;
  Quota quota_;
  core::SharingTerms terms_;
  WasteLimit waste_;
  LeaseSize size_;
  std::uint64_t credit_ = 0;   // admitted, and not yet used up by waste
  std::vector<Lease> leases_;  // the oldest first
  std::uint32_t units_ = 0;    // of all leases
  std::deque<WaitEntry> waiting_;
  base::Deadline first_deadline_ = base::Deadline::max();  // of those who wait, or earlier
  std::vector<store::LeaseReport> reports_;                // of leases that are over; strict only
  std::vector<store::LeaseReport> reports_in_flight_;      // by the call in flight
  std::optional<CachedDecision> denial_;                   // of the last answer, if it left nothing
  Decision last_decision_{};                               // what the store had left
  base::Deadline received_at_{};
  base::Deadline asked_at_{};
  base::Deadline window_ends_{};  // the one that was granted from last, or the sub-window
  base::Deadline ask_after_{};    // when there was nothing left, asking at once is in vain
  base::Deadline used_at_{};
  base::Deadline reported_at_{};  // since when the newest of reports_ is over
  std::uint32_t needed_ = 0;      // as a lease, by the first who waits
  std::uint64_t low_water_ = 0;   // of the last ask
  TakenUnits taken_{};
  std::uint64_t asks_ = 1;
  std::uint64_t leases_received_ = 0;
  std::uint64_t wanted_ = 0;  // by the last ask, beyond those who wait
  bool is_drained_ = false;   // the store had much less: hot and exhausted
  bool is_asking_ = false;
  bool is_outdated_ = false;  // what is being asked for was dropped meanwhile
  bool is_stale_ = false;     // what is being answered may be refused no longer
};

}  // namespace penstock::lease
