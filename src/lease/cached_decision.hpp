#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <optional>

namespace penstock::lease {

// The last answer of the shared store about a key, and what follows from it until the answer is too
// old. It has to be dropped when this node charges the key, and when anybody refunds, resets,
// blocks or unblocks it.
//
// What other nodes charge meanwhile under the same quota can only keep a request denied for longer:
// a denial that is repeated is right, its numbers are those of a key that only this node uses.
//
// Of a bucket, one answer says everything about every cost: tokens arrive evenly. Of a fixed or
// anchored window too: nothing changes before its end. Of the other algorithms it says what the
// same cost has to wait for, and no more; what became free since the answer is not in `remaining`
// then. Of usage that drains as another quota says, it says when the first unit is free.
//
// Thread-safety: immutable.
class CachedDecision {
 public:
  // However long the store's answer holds: so long at the most, in case that nobody told.
  static constexpr Duration kMaxAge = std::chrono::seconds{1};

  // `said` was the answer to a request of this cost, asked and heard at these moments. An admission
  // is an answer as well.
  CachedDecision(const Quota& quota, Cost cost, const Decision& said, base::Deadline asked,
                 base::Deadline heard) noexcept
      : quota_(quota.identity()), cost_(cost), said_(said), asked_at_(asked), received_at_(heard) {}

  // What the store would say to this request, if it would refuse it for certain.
  [[nodiscard]] std::optional<Decision> repeat(const Quota& quota, Cost cost,
                                               base::Deadline now) const noexcept;
  // What the store would show for this limit in a request of this cost that another limit denies,
  // if this one has room for it.
  [[nodiscard]] std::optional<Decision> snapshot(const Quota& quota, Cost cost,
                                                 base::Deadline now) const noexcept;

  // From here on it says nothing any more.
  [[nodiscard]] base::Deadline ends() const noexcept { return received_at_ + kMaxAge; }

 private:
  // How long a cost has to wait, from the answer on: the store denies it for certain before
  // `least`, and admits it after `most`.
  struct Wait {
    Duration least{0};
    Duration most{0};
  };
  // What has passed for the store since it answered, at the least and at the most.
  struct Passed {
    Duration least{0};
    Duration most{0};
  };

  [[nodiscard]] bool applies(const Quota& quota, base::Deadline now) const noexcept {
    return quota.identity() == quota_ && now < ends();
  }
  [[nodiscard]] Passed passed_by(base::Deadline now) const noexcept;
  [[nodiscard]] Wait wait_for(const Quota& quota, std::uint64_t asked) const noexcept;
  [[nodiscard]] Wait bucket_wait(const Quota& quota, std::uint64_t asked) const noexcept;
  [[nodiscard]] std::uint32_t remaining_after(const Quota& quota, Duration passed) const noexcept;
  // Whether the window, or all of its usage, may have ended.
  [[nodiscard]] bool may_be_over(const Quota& quota, const Passed& passed) const noexcept;
  [[nodiscard]] Duration reset_after(Duration passed) const noexcept;

  QuotaIdentity quota_;
  Cost cost_;
  Decision said_;
  base::Deadline asked_at_;
  base::Deadline received_at_;
};

}  // namespace penstock::lease
