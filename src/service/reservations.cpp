#include "service/reservations.hpp"

#include "service/expiry_sweep.hpp"
#include "service/random_id.hpp"
#include "service/reserve_flow.hpp"
#include "service/settle_flow.hpp"

#include <memory>
#include <utility>

namespace penstock::service {

Reservations::Reservations(const ServiceDeps& deps)
    : deps_{.service = deps, .retries = std::make_shared<RetryQueue>()},
      sweep_(std::make_shared<ExpirySweep>(deps_)) {}

Reservations::~Reservations() { deps_.retries->close(); }

void Reservations::reserve(Answer undecided, std::string domain, ReservationRequest reservation,
                           base::Deadline deadline, Answered<ReserveResult> answered) {
  std::make_shared<ReserveFlow>(deps_, std::move(undecided), std::move(domain),
                                std::move(reservation), deadline, std::move(answered))
      ->start();
}

void Reservations::commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                          Answered<SettleResult> answered) {
  std::make_shared<SettleFlow>(deps_, std::move(id),
                               store::reservation::Commit{.actual = actual, .settler = random_id()},
                               std::move(answered))
      ->start(deadline);
}

void Reservations::cancel(std::string id, base::Deadline deadline,
                          Answered<SettleResult> answered) {
  std::make_shared<SettleFlow>(
      deps_, std::move(id), store::reservation::Cancel{.settler = random_id()}, std::move(answered))
      ->start(deadline);
}

void Reservations::retry() { deps_.retries->tick(); }
void Reservations::sweep() { sweep_->start(); }

}  // namespace penstock::service
