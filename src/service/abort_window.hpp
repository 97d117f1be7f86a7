#pragma once

#include "base/deadline.hpp"
#include "rules/model/rollout.hpp"

#include <cstdint>
#include <deque>

namespace penstock::service {

// Requests that a rule in a roll-out was enforced for, and those that it denied.
struct RolloutTotals {
  std::uint64_t enforced = 0;
  std::uint64_t denied = 0;

  friend constexpr RolloutTotals operator-(const RolloutTotals& a,
                                           const RolloutTotals& b) noexcept {
    return {.enforced = a.enforced - b.enforced, .denied = a.denied - b.denied};
  }
  friend constexpr RolloutTotals operator+(const RolloutTotals& a,
                                           const RolloutTotals& b) noexcept {
    return {.enforced = a.enforced + b.enforced, .denied = a.denied + b.denied};
  }
};

// Their share that was denied, rounded down; 0 of no requests.
[[nodiscard]] rules::BasisPoints denied_share(const RolloutTotals& totals) noexcept;

// Decides when a roll-out is aborted, from running totals: a state machine without a clock.
//
// The window is the last `over`, or the time since the start if that is less; it moves in steps of
// a tenth. Bounded: one sample per step.
class AbortWindow {
 public:
  AbortWindow(const rules::AbortCondition& condition, base::Deadline start);

  // Whether the roll-out is to be aborted. REQUIRES: neither `totals` nor `now` decrease.
  [[nodiscard]] bool update(const RolloutTotals& totals, base::Deadline now);
  // In the window of the last update.
  [[nodiscard]] const RolloutTotals& recent() const noexcept { return recent_; }

 private:
  static constexpr int kSteps = 10;
  struct Sample {
    base::Deadline at;
    RolloutTotals totals{};
  };

  rules::AbortCondition condition_;
  std::deque<Sample> samples_;  // oldest first; never empty
  RolloutTotals recent_{};
};

}  // namespace penstock::service
