#pragma once

#include "base/deadline.hpp"
#include "core/terms.hpp"
#include "lease/denial.hpp"
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
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  virtual ~Waiting() = default;

  // Once.
  virtual void on_answer(const Result<Decision>& answer) = 0;
};

// Those who need not wait any longer, with what they are told.
using Answers = std::vector<std::pair<Waiting*, Result<Decision>>>;

// What this holder has leased of one count, and what it knows of the rest. Requests are answered
// out of it; the store is asked for more before it runs out, by one call at a time, which whoever
// comes too late waits for: first come, first served.
//
// A lease counts from the moment it was asked for, on this machine's clock, so that it is over here
// before the store stops counting it.
//
// Thread-safety: none.
class Holding {
 public:
  Holding(core::CountName name, const Quota& quota, const core::Terms& terms, base::Deadline now);

  // Out of what is in hand, or refused for certain. Empty: somebody has to be asked.
  // REQUIRES: cost > 0.
  [[nodiscard]] std::optional<Decision> take(Cost cost, base::Deadline now);
  // What take() would say, if it would refuse.
  [[nodiscard]] std::optional<Decision> refuses(Cost cost, base::Deadline now) const;
  // After take() had no answer. Hears of a failure at the first answer after its deadline, or from
  // dismiss_late() if that is sooner.
  // REQUIRES: `waiting` stays until it has heard.
  void wait(Waiting& waiting, Cost cost, base::Deadline deadline = base::Deadline::max());
  static constexpr std::size_t kMostWaiting = 65'536;
  [[nodiscard]] bool is_crowded() const noexcept { return waiting_.size() >= kMostWaiting; }

  // Which lease the last take() that passed took from, for put_back().
  struct Taken {
    std::uint64_t lease = 0;  // 0: of several
    std::uint64_t asks = 0;   // made before
  };
  [[nodiscard]] const Taken& last_taken() const noexcept { return taken_; }
  // Of a request that took, and was then refused by another limit. What the store has been told
  // about already, or what is over, is lost: elsewhere it would be one too many.
  void put_back(Cost cost, const Taken& taken, base::Deadline now);
  // What it has, for a request that another limit refuses.
  [[nodiscard]] Decision shows(base::Deadline now) const;

  [[nodiscard]] bool wants_to_ask(base::Deadline now) const;
  // `sharers` take from the same count. REQUIRES: it wants to, or gives back.
  [[nodiscard]] store::LeaseAsk ask(std::uint32_t sharers, base::Deadline now);
  void on_grant(const Result<store::LeaseGrant>& grant, base::Deadline now, Answers& answers);

  // Those whose deadline has passed hear that they have waited in vain.
  void dismiss_late(base::Deadline now, Answers& answers);
  // Of those who wait; max() when nobody does.
  [[nodiscard]] base::Deadline first_deadline() const;

  // What is in hand or on its way is nobody's any more: the store hears of strict leases that they
  // are returned, others are lost.
  void drop(base::Deadline now);
  // The store may say something else now than it said last, or is saying.
  void doubt();
  // Everybody who waits hears this error.
  void fail(const Error& error, Answers& answers);
  void adopt(const Quota& quota, const core::Terms& terms, base::Deadline now);
  // What the store has heard by then, or it never will.
  static constexpr Duration kHeardWithin = std::chrono::seconds{1};
  // Units in hand that nobody will spend, for a shutdown: of windows that still count them when
  // the store hears of it. Given back to the next window, or to a bucket that has refilled
  // meanwhile, they would admit too many.
  [[nodiscard]] std::uint32_t returnable(base::Deadline now);

  [[nodiscard]] const core::CountName& name() const noexcept { return name_; }
  [[nodiscard]] const Quota& quota() const noexcept { return quota_; }
  [[nodiscard]] const core::Terms& terms() const noexcept { return terms_; }
  [[nodiscard]] std::uint32_t in_hand(base::Deadline now);
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
  struct Waiter {
    Waiting* waiting = nullptr;
    Cost cost{};
    base::Deadline deadline{};
  };

  [[nodiscard]] bool is_strict() const noexcept;
  void end_leases(base::Deadline now);
  bool spend(std::uint64_t units, base::Deadline now);
  void report(const store::LeaseReport& news, base::Deadline since);
  // Whether it was over before it arrived.
  bool hear(const store::LeaseGrant& grant, bool is_doubted, base::Deadline now);
  void serve(const store::LeaseGrant& grant, base::Deadline now, Answers& answers);
  [[nodiscard]] std::uint64_t shortfall(Cost cost) const;
  [[nodiscard]] base::Deadline::duration counts_for(base::Deadline now) const;
  [[nodiscard]] Decision paced(Cost cost, base::Deadline now) const;

  core::CountName name_;
  Quota quota_;
  core::Terms terms_;
  LeaseSize size_;
  std::vector<Lease> leases_;  // the oldest first
  std::uint32_t units_ = 0;    // of all leases
  std::deque<Waiter> waiting_;
  std::vector<store::LeaseReport> reports_;  // of leases that are over; strict only
  std::vector<store::LeaseReport> told_;     // by the call under way
  std::optional<Denial> denial_;             // of the last answer, if it left nothing
  Decision heard_{};                         // what the store had left
  base::Deadline heard_at_{};
  base::Deadline asked_at_{};
  base::Deadline window_ends_{};  // the one that was granted from last, or the sub-window
  base::Deadline ask_after_{};    // when there was nothing left, asking at once is in vain
  base::Deadline used_at_{};
  base::Deadline reported_at_{};  // since when the newest of reports_ is over
  std::uint32_t needed_ = 0;
  Taken taken_{};
  std::uint64_t asks_ = 1;
  std::uint64_t leases_heard_ = 0;
  bool is_asking_ = false;
  bool is_outdated_ = false;  // what is being asked for was dropped meanwhile
  bool is_doubted_ = false;   // what is being answered may be refused no longer
};

}  // namespace penstock::lease
