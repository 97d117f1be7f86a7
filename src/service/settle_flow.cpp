#include "service/settle_flow.hpp"

#include "service/extra_charge.hpp"

#include <utility>

namespace penstock::service {
namespace {

using store::Reservation;
using store::ReservationAnswer;
using store::ReservationState;

SettleResult settled_as(const Reservation& known, SettleResult::Outcome outcome) {
  return {.outcome = outcome,
          .state = known.state,
          .estimate = known.estimate,
          .actual = known.actual,
          .uncharged = known.uncharged};
}

// Whether the record says what the call wanted.
bool agrees(const Reservation& known, const store::reservation::Commit& what) {
  return known.state == ReservationState::Committed && known.actual == what.actual;
}
bool agrees(const Reservation& known, const store::reservation::Cancel& /*what*/) {
  return known.state == ReservationState::Cancelled || known.state == ReservationState::Expired;
}

// Whether the call has to be repeated in a while: the reservation is not made yet, or it expired
// and its units are on their way back to the limits that a commit would charge.
bool is_busy(const Reservation& known, const SettleFlow::What& what) {
  if (known.state == ReservationState::Pending) return true;
  return known.state == ReservationState::Expired &&
         std::holds_alternative<store::reservation::Commit>(what);
}

}  // namespace

SettleFlow::SettleFlow(ReservationDeps deps, std::string id, What what,
                       Reservations::Answered<SettleResult> answered)
    : deps_(std::move(deps)),
      id_(std::move(id)),
      what_(std::move(what)),
      answered_(std::move(answered)) {}

void SettleFlow::start(base::Deadline deadline) {
  ask(deadline, [self = shared_from_this()](const Result<ReservationAnswer>& said) {
    if (said) return self->on_step(*said);
    if (!was_not_executed(said.error())) self->ask_again_later();
    self->answer(said.error());
  });
}

void SettleFlow::ask(base::Deadline deadline,
                     std::function<void(const Result<ReservationAnswer>&)> on_answer) {
  store::ReservationRequest ask{.id = id_, .what = store::reservation::Cancel{}};
  std::visit([&](const auto& what) { ask.what = what; }, what_);
  deps_.service.stores.reservations.ask(std::move(ask), deadline,
                                        timed(deps_.service.events, std::move(on_answer)));
}

void SettleFlow::ask_again_later() {
  deps_.retries->add(
      [self = shared_from_this()](base::Deadline deadline, RetryQueue::Finished finished) {
        self->ask(deadline, [self, finished = std::move(finished)](const auto& said) {
          if (said) self->on_step(*said);
          finished(said.has_value());
        });
      });
}

void SettleFlow::on_step(const ReservationAnswer& said) {
  if (!said.done) return answer(result_for(said.before));
  settled_ = settled_as(*said.before, SettleResult::Outcome::Done);
  if (const auto* commit = std::get_if<store::reservation::Commit>(&what_)) {
    return settle_commit(*said.before, commit->actual);
  }
  settled_.state = ReservationState::Cancelled;
  refund(*said.before, said.before->estimate);
}

void SettleFlow::settle_commit(const Reservation& before, std::uint64_t actual) {
  settled_.state = ReservationState::Committed;
  settled_.actual = actual;
  // of one that expired everything was refunded
  const std::uint64_t held = before.state == ReservationState::Open ? before.estimate : 0;
  if (before.state != ReservationState::Open || actual > held) return charge(before, actual - held);
  settled_.uncharged = 0;
  refund(before, held - actual);
}

void SettleFlow::charge(const Reservation& before, std::uint64_t units) {
  const base::Deadline deadline = deps_.service.background_deadline();
  std::make_shared<ExtraCharge>(
      deps_.service, before.held, units, deadline,
      [self = shared_from_this()](std::uint64_t uncharged) {
        self->settled_.uncharged = uncharged;
        const ServiceDeps& deps = self->deps_.service;
        deps.stores.reservations.ask(
            {.id = self->id_, .what = store::reservation::Note{uncharged}},
            deps.background_deadline(),
            timed(deps.events, [self](const auto& /*unused*/) { self->answer(self->settled_); }));
      })
      ->start();
}

void SettleFlow::refund(const Reservation& before, std::uint64_t units) {
  refund_reservation(deps_, refund_of(before, units), deps_.service.background_deadline(),
                     [self = shared_from_this()] { self->answer(self->settled_); });
}

SettleResult SettleFlow::result_for(const std::optional<Reservation>& known) const {
  if (!known) return {.outcome = SettleResult::Outcome::Unknown};
  if (is_busy(*known, what_)) return {.outcome = SettleResult::Outcome::Busy};
  const bool is_agreed = std::visit([&](const auto& what) { return agrees(*known, what); }, what_);
  return settled_as(*known,
                    is_agreed ? SettleResult::Outcome::Done : SettleResult::Outcome::Conflict);
}

void SettleFlow::answer(Result<SettleResult> settled) {
  if (const auto answered = std::exchange(answered_, nullptr)) answered(std::move(settled));
}

}  // namespace penstock::service
