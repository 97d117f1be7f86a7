#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <optional>

namespace penstock::lease {

// A refusal of the shared store, and what follows from it. What others take can only keep a request
// refused for longer, so it is certain until the moment that the store named, for the same cost
// and, as far as the algorithm says, for others. Whoever gives back, resets or unblocks has to
// tell.
//
// Thread-safety: immutable.
class Denial {
 public:
  // However long the store's answer holds: so long at the most, in case that nobody told.
  static constexpr Duration kLongest = std::chrono::seconds{1};

  // `said` was the answer to a request of this cost, asked and heard at these moments.
  // REQUIRES: it refuses.
  Denial(const Quota& quota, Cost cost, const Decision& said, base::Deadline asked,
         base::Deadline heard) noexcept
      : quota_(quota.identity()), cost_(cost), said_(said), asked_(asked), heard_(heard) {}

  // What the store would say to this request, if it would refuse it for certain.
  [[nodiscard]] std::optional<Decision> repeat(const Quota& quota, Cost cost,
                                               base::Deadline now) const noexcept;

  // From here on it says nothing any more.
  [[nodiscard]] base::Deadline ends() const noexcept { return heard_ + kLongest; }

 private:
  [[nodiscard]] Duration refused_for(const Quota& quota, Cost cost) const noexcept;

  QuotaIdentity quota_;
  Cost cost_;
  Decision said_;
  base::Deadline asked_;
  base::Deadline heard_;
};

}  // namespace penstock::lease
