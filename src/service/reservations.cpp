#include "service/reservations.hpp"

#include "service/expiry_sweep.hpp"
#include "service/reserve_flow.hpp"
#include "service/settle_flow.hpp"
#include "service/unique_name.hpp"

#include <memory>
#include <utility>

namespace penstock::service {

Reservations::Reservations(const Colleagues& colleagues)
    : deps_{.colleagues = colleagues, .retries = std::make_shared<RetryQueue>()},
      sweep_(std::make_shared<ExpirySweep>(deps_)) {}

Reservations::~Reservations() { deps_.retries->close(); }

void Reservations::reserve(Answer unasked, std::string domain, ReservationTerms terms,
                           base::Deadline deadline, Answered<Reserved> answered) {
  std::make_shared<ReserveFlow>(deps_, std::move(unasked), std::move(domain), std::move(terms),
                                deadline, std::move(answered))
      ->start();
}

void Reservations::commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                          Answered<Settled> answered) {
  std::make_shared<SettleFlow>(
      deps_, std::move(id), store::reservation::Commit{.actual = actual, .settler = unique_name()},
      std::move(answered))
      ->start(deadline);
}

void Reservations::cancel(std::string id, base::Deadline deadline, Answered<Settled> answered) {
  std::make_shared<SettleFlow>(deps_, std::move(id),
                               store::reservation::Cancel{.settler = unique_name()},
                               std::move(answered))
      ->start(deadline);
}

void Reservations::retry() { deps_.retries->tick(); }
void Reservations::sweep() { sweep_->start(); }

}  // namespace penstock::service
