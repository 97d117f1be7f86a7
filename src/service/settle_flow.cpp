#include "base/join.hpp"
#include "service/reservation_flows.hpp"

#include <algorithm>
#include <memory>
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
bool is_busy(const Reservation& known, const Settlement& what) {
  if (known.state == ReservationState::Pending) return true;
  return known.state == ReservationState::Expired &&
         std::holds_alternative<store::reservation::Commit>(what);
}

// Charges units that were already used to every limit, as far as they fit. Reports how many units
// of cost did not fit the fullest limit.
class ExtraCharge final : public std::enable_shared_from_this<ExtraCharge> {
 public:
  using Done = std::function<void(std::uint64_t uncharged)>;

  ExtraCharge(const ServiceDeps& deps, std::vector<store::HeldUnits> held, std::uint64_t units,
              base::Deadline deadline, Done done);

  void start();

 private:
  // Other requests charge the same limits in between; then the remaining units are read again.
  static constexpr int kAttempts = 4;

  void charge(std::size_t index, std::uint64_t wanted, std::uint64_t units, int attempt);
  void finish_one(std::size_t index, std::uint64_t missing);

  ServiceDeps deps_;
  std::vector<store::HeldUnits> held_;
  std::uint64_t units_;
  base::Deadline deadline_;
  Done done_;
  std::uint64_t uncharged_ = 0;
  base::Join charges_;
};

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

// One commit or cancel, from its step in the record to its answer:
//
//   step      the record says that it is settled, and by this call
//   settle    the difference is refunded or charged; what could not be charged is noted
//
// Each step has its own deadline. When the answer to the first step is lost, the client receives an
// error, and the flow repeats the step in the background: if this call did the step, it settles the
// difference then. So exactly one call settles it, unless its daemon crashes.
class SettleFlow final : public std::enable_shared_from_this<SettleFlow> {
 public:
  SettleFlow(ReservationDeps deps, std::string id, Settlement what,
             Reservations::Answered<SettleResult> answered);

  void start(base::Deadline deadline);

 private:
  void ask(base::Deadline deadline,
           std::function<void(const Result<ReservationAnswer>&)> on_answer);
  void on_step(const ReservationAnswer& said);
  void settle_commit(const Reservation& before, std::uint64_t actual);
  void charge(const Reservation& before, std::uint64_t units);
  void refund(const Reservation& before, std::uint64_t units);
  [[nodiscard]] SettleResult result_for(const std::optional<Reservation>& known) const;
  void ask_again_later();
  void answer(Result<SettleResult> settled);

  ReservationDeps deps_;
  std::string id_;
  Settlement what_;
  Reservations::Answered<SettleResult> answered_;  // empty once it was called
  SettleResult settled_{};
};

SettleFlow::SettleFlow(ReservationDeps deps, std::string id, Settlement what,
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

}  // namespace

void start_settle(const ReservationDeps& deps, std::string id, Settlement settlement,
                  base::Deadline deadline, Reservations::Answered<SettleResult> answered) {
  std::make_shared<SettleFlow>(deps, std::move(id), std::move(settlement), std::move(answered))
      ->start(deadline);
}

}  // namespace penstock::service
