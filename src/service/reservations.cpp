#include "service/reservations.hpp"

#include "service/reserve_flow.hpp"
#include "service/settle_flow.hpp"

#include <memory>
#include <utility>

namespace penstock::service {
namespace {

using store::Reservation;
using store::ReservationAnswer;
using store::ReservationAsk;
using store::ReservationState;

void hear(Events& events, base::Deadline since, const Result<ReservationAnswer>& said) {
  events.on_store_call(base::monotonic_now() - since, said ? nullptr : &said.error());
}

Settled settled_as(const Reservation& known, Settled::Outcome outcome) {
  return {.outcome = outcome,
          .state = known.state,
          .estimate = known.estimate,
          .actual = known.actual,
          .uncharged = known.uncharged};
}

// Of a call that changed nothing; `agrees` when the book says what the call wanted.
Settled told_of(const std::optional<Reservation>& known, bool agrees) {
  if (!known) return {.outcome = Settled::Outcome::Unknown};
  if (known->state == ReservationState::Pending) return {.outcome = Settled::Outcome::Busy};
  return settled_as(*known, agrees ? Settled::Outcome::Done : Settled::Outcome::Conflict);
}

// Charges what was used beyond what is held, and writes down what could not be.
void charge_extra(const Colleagues& colleagues, const std::string& id, const Reservation& before,
                  Settled settled, base::Deadline deadline,
                  Reservations::Answered<Settled> answered) {
  // of one that expired everything was given back
  const std::uint64_t held = before.state == ReservationState::Open ? before.estimate : 0;
  std::make_shared<ExtraCharge>(
      colleagues, before.held, settled.actual - held, deadline,
      [colleagues, id, settled, deadline,
       answered = std::move(answered)](std::uint64_t uncharged) mutable {
        settled.uncharged = uncharged;
        colleagues.store.reservations().ask(
            {.id = id, .what = store::reservation::Note{uncharged}}, deadline,
            [&events = colleagues.events, settled, answered = std::move(answered),
             since = base::monotonic_now()](const Result<ReservationAnswer>& said) {
              hear(events, since, said);
              answered(settled);
            });
      })
      ->start();
}

}  // namespace

void Reservations::reserve(Answer unasked, std::string domain, ReservationTerms terms,
                           base::Deadline deadline, Answered<Reserved> answered) {
  std::make_shared<ReserveFlow>(colleagues_, std::move(unasked), std::move(domain),
                                std::move(terms), deadline, std::move(answered))
      ->start();
}

void Reservations::commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                          Answered<Settled> answered) {
  ReservationAsk ask{.id = id, .what = store::reservation::Commit{actual}};
  colleagues_.store.reservations().ask(
      std::move(ask), deadline,
      [colleagues = colleagues_, id = std::move(id), actual, deadline,
       answered = std::move(answered),
       since = base::monotonic_now()](const Result<ReservationAnswer>& said) mutable {
        hear(colleagues.events, since, said);
        if (!said) return answered(said.error());
        const std::optional<Reservation>& before = said->before;
        if (!said->done) {
          const bool agrees =
              before && before->state == ReservationState::Committed && before->actual == actual;
          return answered(told_of(before, agrees));
        }
        Settled settled = settled_as(*before, Settled::Outcome::Done);
        settled.state = ReservationState::Committed;
        settled.actual = actual;
        if (before->state != ReservationState::Open || actual > before->estimate) {
          return charge_extra(colleagues, id, *before, settled, deadline, std::move(answered));
        }
        settled.uncharged = 0;
        give_back(colleagues, before->held, before->estimate - actual, before->age, deadline,
                  [settled, answered = std::move(answered)](const Result<void>& /*given*/) {
                    answered(settled);
                  });
      });
}

void Reservations::cancel(std::string id, base::Deadline deadline, Answered<Settled> answered) {
  colleagues_.store.reservations().ask(
      {.id = std::move(id), .what = store::reservation::Cancel{}}, deadline,
      [colleagues = colleagues_, deadline, answered = std::move(answered),
       since = base::monotonic_now()](const Result<ReservationAnswer>& said) {
        hear(colleagues.events, since, said);
        if (!said) return answered(said.error());
        const std::optional<Reservation>& before = said->before;
        if (!said->done) {
          const bool agrees = before && (before->state == ReservationState::Cancelled ||
                                         before->state == ReservationState::Expired);
          return answered(told_of(before, agrees));
        }
        Settled settled = settled_as(*before, Settled::Outcome::Done);
        settled.state = ReservationState::Cancelled;
        give_back(colleagues, before->held, before->estimate, before->age, deadline,
                  [settled, answered](const Result<void>& /*given*/) { answered(settled); });
      });
}

}  // namespace penstock::service
