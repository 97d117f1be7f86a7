#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <optional>

namespace penstock::lease {

// The last answer of the shared store about a key, and the decisions that follow from it until it
// is too old. It must be dropped when this node charges the key, and when any node refunds, resets,
// blocks or unblocks it.
//
// Charges of other nodes under the same quota can only prolong a denial: a repeated denial is
// correct, its numbers are those of a key that only this node uses.
//
// For a bucket one answer determines the wait of every cost, since tokens arrive evenly. The same
// holds for a fixed or anchored window, which does not change before its end. For the other
// algorithms it determines only the wait of the same cost, and `remaining` does not include units
// freed since the answer. For usage that drains under another quota it determines when the first
// unit is free.
//
// Thread-safety: immutable.
class CachedDecision {
 public:
  // Maximum age, whatever the answer says, in case a change was not announced.
  static constexpr Duration kMaxAge = std::chrono::seconds{1};

  // The answer to a request of this cost. It may be an admission.
  CachedDecision(const Quota& quota, Cost cost, const Decision& decision, base::Deadline sent_at,
                 base::Deadline received_at) noexcept
      : quota_(quota.identity()),
        cost_(cost),
        decision_(decision),
        sent_at_(sent_at),
        received_at_(received_at) {}

  // The store's answer to this request, if it is certainly a denial.
  [[nodiscard]] std::optional<Decision> repeat(const Quota& quota, Cost cost,
                                               base::Deadline now) const noexcept;
  // The store's numbers for this limit in a request of this cost that another limit denies, if this
  // limit has room for it.
  [[nodiscard]] std::optional<Decision> snapshot(const Quota& quota, Cost cost,
                                                 base::Deadline now) const noexcept;

  // The answer is unusable from here on.
  [[nodiscard]] base::Deadline ends() const noexcept { return received_at_ + kMaxAge; }

 private:
  // How long a cost waits, counted from the answer: the store certainly denies it before `least`
  // and admits it after `most`.
  struct Wait {
    Duration least{0};
    Duration most{0};
  };
  // Bounds of the time that has passed on the store's clock since it answered.
  struct Passed {
    Duration least{0};
    Duration most{0};
  };

  [[nodiscard]] bool applies(const Quota& quota, base::Deadline now) const noexcept {
    return quota.identity() == quota_ && now < ends();
  }
  [[nodiscard]] Passed passed_by(base::Deadline now) const noexcept;
  [[nodiscard]] Wait wait_for(const Quota& quota, std::uint64_t units) const noexcept;
  [[nodiscard]] Wait bucket_wait(const Quota& quota, std::uint64_t units) const noexcept;
  [[nodiscard]] std::uint32_t remaining_after(const Quota& quota, Duration passed) const noexcept;
  // Whether the window, or all of its usage, may have ended.
  [[nodiscard]] bool may_be_over(const Quota& quota, const Passed& passed) const noexcept;
  [[nodiscard]] Duration reset_after(Duration passed) const noexcept;

  QuotaIdentity quota_;
  Cost cost_;
  Decision decision_;
  base::Deadline sent_at_;
  base::Deadline received_at_;
};

}  // namespace penstock::lease
