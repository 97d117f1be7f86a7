#include "service/abort_window.hpp"

#include "base/wide.hpp"

namespace penstock::service {

rules::BasisPoints denied_share(const RolloutTotals& totals) noexcept {
  if (totals.enforced == 0) return 0;
  return static_cast<rules::BasisPoints>(base::Wide{totals.denied} * rules::kWhole /
                                         totals.enforced);
}

AbortWindow::AbortWindow(const rules::AbortCondition& condition, base::Deadline start)
    : condition_(condition), samples_{{.at = start}} {}

bool AbortWindow::update(const RolloutTotals& totals, base::Deadline now) {
  while (samples_.size() > 1 && now - samples_.front().at > condition_.over) samples_.pop_front();
  recent_ = totals - samples_.front().totals;
  // the last sample moves until it is a step after the one before
  if (samples_.size() > 1 &&
      samples_.back().at - samples_.end()[-2].at < condition_.over / kSteps) {
    samples_.pop_back();
  }
  samples_.push_back({.at = now, .totals = totals});
  // exact, unlike the rounded share
  return recent_.enforced >= condition_.min_requests &&
         base::Wide{recent_.denied} * rules::kWhole >
             base::Wide{recent_.enforced} * condition_.denied_above;
}

}  // namespace penstock::service
