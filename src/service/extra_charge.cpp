#include "service/extra_charge.hpp"

#include "service/reservation_refund.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {

ExtraCharge::ExtraCharge(const ServiceDeps& deps, std::vector<store::HeldUnits> held,
                         std::uint64_t units, base::Deadline deadline, Done done)
    : deps_(deps),
      held_(std::move(held)),
      units_(units),
      deadline_(deadline),
      done_(std::move(done)),
      charges_([this] { done_(uncharged_); }) {}

void ExtraCharge::start() {
  charges_.add();
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const std::uint64_t wanted = saturating_product(held_[i].weight, units_);
    charges_.add();
    charge(i, wanted, wanted, 1);
  }
  charges_.finish_one();
}

void ExtraCharge::charge(std::size_t index, std::uint64_t wanted, std::uint64_t units,
                         int attempt) {
  if (units == 0) return finish_one(index, wanted);
  const store::HeldUnits& held = held_[index];
  deps_.stores.limits.check(
      {{.name = held.name, .quota = held.quota, .cost = {units}, .terms = held.terms}}, deadline_,
      timed(deps_.events, [self = shared_from_this(), index, wanted, units,
                           attempt](const Result<store::Decisions>& said) {
        if (!said) return self->finish_one(index, wanted);
        const Decision& decision = said->front();
        if (decision.allowed()) return self->finish_one(index, wanted - units);
        const bool can_fit = decision.outcome() != Outcome::Blocked && attempt < kAttempts;
        if (!can_fit) return self->finish_one(index, wanted);
        self->charge(index, wanted, std::min<std::uint64_t>(decision.remaining(), units),
                     attempt + 1);
      }));
}

void ExtraCharge::finish_one(std::size_t index, std::uint64_t missing) {
  if (missing > 0) {
    const std::uint64_t weight = std::max<std::uint64_t>(held_[index].weight, 1);
    uncharged_ = std::max(uncharged_, missing / weight + (missing % weight > 0 ? 1 : 0));
  }
  charges_.finish_one();
}

}  // namespace penstock::service
