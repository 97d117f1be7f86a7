#include "service/decide.hpp"
#include "service/random_id.hpp"
#include "service/reservation_flows.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace penstock::service {
namespace {

using store::HeldUnits;
using store::ReservationAnswer;
using store::ReservationState;

Error not_shared(const LimitAnswer& limit) {
  const std::string name =
      limit.matched.rule == nullptr ? limit.matched.check.name.limit : limit.matched.rule->name;
  return {ErrorCode::InvalidInput, "rule \"" + name +
                                       "\" is decided by each node alone (mode: local) and cannot "
                                       "be reserved"};
}

// One call to reserve, from its limits to its answer:
//
//   begin     the id is this call's; if it is another's, the record is the answer
//   check     the estimate, all limits or none, as any request
//   confirm   what was charged goes into the record; when denied, the record is dropped
//
// Each step has a deadline of its own: that of the store, and for the first two the client's.
//
// When there is no record to begin with, nothing is charged. When the record cannot be confirmed,
// it is dropped, and what was charged is refunded; if the store does not answer that either, the
// retry queue goes on. In both cases nothing is reserved, and the failure policy of the limits is
// the answer. Only the final answer is reported to Events.
class ReserveFlow final : public std::enable_shared_from_this<ReserveFlow> {
 public:
  ReserveFlow(ReservationDeps deps, Answer undecided, std::string domain,
              ReservationRequest reservation, base::Deadline deadline,
              Reservations::Answered<ReserveResult> answered);

  void start();

 private:
  using OnStoreAnswer = std::function<void(ReserveFlow&, const Result<ReservationAnswer>&)>;

  void on_begun(const Result<ReservationAnswer>& said);
  void answer_known(const store::Reservation& known);
  void decide(bool has_begun);
  void on_decided(Answer answer);
  void on_confirmed(const Result<ReservationAnswer>& said);
  void on_dropped(const Result<ReservationAnswer>& said);
  void drop_later();
  void on_dropped_later(const ReservationAnswer& said, const ReservationRefund& taken) const;
  void refund_charged() const;
  void answer_by_policy();
  void finish(std::string id);
  void ask(decltype(store::ReservationRequest::what) what, base::Deadline deadline,
           const OnStoreAnswer& on_answer);
  [[nodiscard]] std::vector<HeldUnits> held() const;
  [[nodiscard]] ReservationRefund charged() const;
  // Whether this call has reserved nothing, and never will.
  [[nodiscard]] bool is_void(const ReservationAnswer& dropped) const;
  // Whether the limits passed only because the store was unavailable.
  [[nodiscard]] bool is_by_policy_alone() const;
  // Whether a reservation can be of the limits of this call.
  [[nodiscard]] bool is_of_these_limits(const store::Reservation& known) const;

  ReservationDeps deps_;
  Answer answer_;
  std::string domain_;
  ReservationRequest request_;
  bool has_own_id_ = false;  // named by the client
  base::Deadline deadline_;
  base::Deadline began_{};
  Reservations::Answered<ReserveResult> answered_;
  std::string claimant_;
  std::vector<std::uint64_t> weights_;  // of the limits of the answer
};

ReserveFlow::ReserveFlow(ReservationDeps deps, Answer undecided, std::string domain,
                         ReservationRequest reservation, base::Deadline deadline,
                         Reservations::Answered<ReserveResult> answered)
    : deps_(std::move(deps)),
      answer_(std::move(undecided)),
      domain_(std::move(domain)),
      request_(std::move(reservation)),
      deadline_(deadline),
      answered_(std::move(answered)),
      claimant_(random_id()) {
  has_own_id_ = !request_.id.empty();
  if (!has_own_id_) request_.id = random_id();
  for (LimitAnswer& limit : answer_.limits) {
    core::NamedCheck& check = limit.matched.check;
    weights_.push_back(check.cost.units);
    check.cost.units = saturating_product(check.cost.units, request_.estimate);
    // units that may be refunded are charged exactly; strict leases keep their account in the store
    const bool is_kept =
        check.terms.mode == core::Mode::LeaseStrict || check.terms.mode == core::Mode::Local;
    if (!is_kept) check.terms = {};
  }
}

void ReserveFlow::ask(decltype(store::ReservationRequest::what) what, base::Deadline deadline,
                      const OnStoreAnswer& on_answer) {
  deps_.service.stores.reservations.ask(
      {.id = request_.id, .what = std::move(what)}, deadline,
      timed(deps_.service.events,
            [self = shared_from_this(), on_answer](const Result<ReservationAnswer>& said) {
              on_answer(*self, said);
            }));
}

void ReserveFlow::start() {
  // usage of this node alone cannot be settled by another
  for (const LimitAnswer& limit : answer_.limits) {
    if (limit.matched.check.terms.mode == core::Mode::Local) return answered_(not_shared(limit));
  }
  began_ = base::monotonic_now();
  ask(store::reservation::Begin{claimant_}, deps_.service.within(deadline_),
      std::mem_fn(&ReserveFlow::on_begun));
}

void ReserveFlow::on_begun(const Result<ReservationAnswer>& said) {
  if (!said && said.error().code == ErrorCode::CapacityExhausted) return answered_(said.error());
  if (said && !said->done) return answer_known(*said->before);
  decide(said.has_value());
}

void ReserveFlow::answer_known(const store::Reservation& known) {
  ReserveResult reserved{
      .outcome = ReserveResult::Outcome::Settled, .id = request_.id, .known = known};
  if (known.state == ReservationState::Pending) {
    reserved.outcome = ReserveResult::Outcome::Busy;
  } else if (known.state == ReservationState::Open && known.left > Duration{0} &&
             known.estimate == request_.estimate && is_of_these_limits(known)) {
    reserved.outcome = ReserveResult::Outcome::Repeated;
    reserved.left = known.left;
  }
  answered_(std::move(reserved));
}

// Without a record nothing may be charged, because nothing could be settled.
void ReserveFlow::decide(bool has_begun) {
  if (!has_begun) return answer_by_policy();
  service::decide(
      deps_.service, std::move(answer_), domain_, deadline_,
      [self = shared_from_this()](Answer answer) { self->on_decided(std::move(answer)); },
      Reporting::ByCaller);
}

void ReserveFlow::on_decided(Answer answer) {
  answer_ = std::move(answer);
  const store::reservation::Drop drop{claimant_};  // or the id stays taken for a while
  if (!answer_.allowed) {
    return ask(drop, deps_.service.background_deadline(),
               [](ReserveFlow& flow, const auto& /*unused*/) { flow.finish({}); });
  }
  if (is_by_policy_alone()) {  // there is nothing to settle, and the store has failed once
    ask(drop, deps_.service.background_deadline(),
        [](ReserveFlow& /*unused*/, const auto& /*unused*/) {});
    return finish({});
  }
  ask(store::reservation::Confirm{claimant_, request_.estimate, request_.lasts, held()},
      deps_.service.background_deadline(), std::mem_fn(&ReserveFlow::on_confirmed));
}

void ReserveFlow::on_confirmed(const Result<ReservationAnswer>& said) {
  if (said && said->done) return finish(request_.id);
  if (said) {  // it took too long, and the id is free again or has another owner
    refund_charged();
    return answered_(ReserveResult{.outcome = ReserveResult::Outcome::Busy, .id = request_.id});
  }
  ask(store::reservation::Drop{claimant_}, deps_.service.background_deadline(),
      std::mem_fn(&ReserveFlow::on_dropped));
}

void ReserveFlow::on_dropped(const Result<ReservationAnswer>& said) {
  if (said && !is_void(*said)) return finish(request_.id);  // only the answer was lost
  if (said) {
    refund_charged();
  } else {
    drop_later();
  }
  answer_by_policy();
}

bool ReserveFlow::is_void(const ReservationAnswer& dropped) const {
  return dropped.done || !dropped.before || dropped.before->claimant != claimant_;
}

bool ReserveFlow::is_by_policy_alone() const {
  return (answer_.reason == Reason::FailedOpen || answer_.reason == Reason::DecidedLocally) &&
         held().empty();
}

void ReserveFlow::refund_charged() const {
  refund_reservation(deps_, charged(), deps_.service.background_deadline(), [] {});
}

// The client has its answer by then. One that named the id may have found the reservation open in
// the meantime, and keeps it; otherwise it is unknown.
void ReserveFlow::drop_later() {
  deps_.retries->add([self = shared_from_this(), taken = charged()](
                         base::Deadline deadline, const RetryQueue::Finished& finished) {
    self->ask(store::reservation::Drop{self->claimant_}, deadline,
              [taken, finished](ReserveFlow& flow, const Result<ReservationAnswer>& said) {
                if (said) flow.on_dropped_later(*said, taken);
                finished(said.has_value());
              });
  });
}

void ReserveFlow::on_dropped_later(const ReservationAnswer& said,
                                   const ReservationRefund& taken) const {
  if (is_void(said)) {
    return refund_reservation(deps_, taken, deps_.service.background_deadline(), [] {});
  }
  if (has_own_id_) return;
  start_settle(deps_, request_.id, store::reservation::Cancel{.settler = random_id()},
               deps_.service.background_deadline(),
               [](const Result<SettleResult>& /*no caller waits*/) {});
}

// Nothing is reserved. What the store decided does not stand, because its units go back.
void ReserveFlow::answer_by_policy() {
  for (LimitAnswer& limit : answer_.limits) {
    if (limit.local && limit.decision && limit.decision->allowed()) {
      deps_.service.local.undo({limit.matched.check});
    }
    limit.decision.reset();
    limit.local = false;
  }
  answer_.strictest.reset();
  answer_ = decide_without_store(deps_.service, std::move(answer_));
  finish({});
}

void ReserveFlow::finish(std::string id) {
  deps_.service.events.on_answer(domain_, answer_);
  const Duration left = id.empty() ? Duration{0} : request_.lasts;
  answered_(ReserveResult{.answer = std::move(answer_), .id = std::move(id), .left = left});
}

ReservationRefund ReserveFlow::charged() const {
  return {.held = held(), .units = request_.estimate, .begun = began_};
}

// Of shadow rules and alternatives only those were taken that had room. One that holds nothing was
// let pass by a policy.
bool ReserveFlow::is_of_these_limits(const store::Reservation& known) const {
  std::map<core::LimitKey, std::uint64_t> weights;
  for (std::size_t i = 0; i < answer_.limits.size(); ++i) {
    std::uint64_t& weight = weights[answer_.limits[i].matched.check.name];
    weight += std::min(weights_[i], UINT64_MAX - weight);
  }
  const auto is_asked_for = [&](const HeldUnits& each) {
    const auto found = weights.find(each.name);
    return found != weights.end() && found->second == each.weight;
  };
  const auto is_held = [&](const LimitAnswer& limit) {
    return role_of(limit.matched) != Role::Enforced ||
           std::any_of(known.held.begin(), known.held.end(), [&](const HeldUnits& each) {
             return each.name == limit.matched.check.name;
           });
  };
  return known.held.empty() || (std::all_of(known.held.begin(), known.held.end(), is_asked_for) &&
                                std::all_of(answer_.limits.begin(), answer_.limits.end(), is_held));
}

// What was really taken, each count once.
std::vector<HeldUnits> ReserveFlow::held() const {
  std::vector<HeldUnits> all;
  for (std::size_t i = 0; i < answer_.limits.size(); ++i) {
    const LimitAnswer& limit = answer_.limits[i];
    if (!limit.decision || !limit.decision->allowed() || limit.local) continue;
    const core::NamedCheck& check = limit.matched.check;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const HeldUnits& each) { return each.name == check.name; });
    if (same != all.end()) {
      same->weight += std::min(weights_[i], UINT64_MAX - same->weight);
      continue;
    }
    all.push_back({.name = check.name,
                   .quota = check.quota,
                   .weight = weights_[i],
                   .counts_for = limit.decision->reset_after(),
                   .terms = check.terms});
  }
  return all;
}

}  // namespace

void start_reserve(const ReservationDeps& deps, Answer undecided, std::string domain,
                   ReservationRequest reservation, base::Deadline deadline,
                   Reservations::Answered<ReserveResult> answered) {
  std::make_shared<ReserveFlow>(deps, std::move(undecided), std::move(domain),
                                std::move(reservation), deadline, std::move(answered))
      ->start();
}

}  // namespace penstock::service
