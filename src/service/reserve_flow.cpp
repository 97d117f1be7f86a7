#include "service/reserve_flow.hpp"

#include "service/settle_flow.hpp"
#include "service/unique_name.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace penstock::service {

using store::HeldCount;
using store::ReservationAnswer;
using store::ReservationState;

namespace {

Error not_shared(const LimitAnswer& limit) {
  const std::string name =
      limit.applied.rule == nullptr ? limit.applied.check.name.limit : limit.applied.rule->name;
  return {ErrorCode::InvalidInput, "rule \"" + name +
                                       "\" is decided by each node alone (mode: local) and cannot "
                                       "be reserved"};
}

}  // namespace

ReserveFlow::ReserveFlow(ReservationDeps deps, Answer unasked, std::string domain,
                         ReservationTerms terms, base::Deadline deadline,
                         Reservations::Answered<Reserved> answered)
    : deps_(std::move(deps)),
      answer_(std::move(unasked)),
      domain_(std::move(domain)),
      terms_(std::move(terms)),
      deadline_(deadline),
      answered_(std::move(answered)),
      claimant_(unique_name()) {
  has_own_id_ = !terms_.id.empty();
  if (!has_own_id_) terms_.id = unique_name();
  for (LimitAnswer& limit : answer_.limits) {
    core::NamedCheck& check = limit.applied.check;
    weights_.push_back(check.cost.units);
    check.cost.units = times(check.cost.units, terms_.estimate);
    // what is to be given back is counted exactly; but of a strict lease the store keeps account,
    // and nobody may take past it
    const bool is_kept =
        check.terms.mode == core::Mode::LeaseStrict || check.terms.mode == core::Mode::Local;
    if (!is_kept) check.terms = {};
  }
}

void ReserveFlow::ask(decltype(store::ReservationAsk::what) what, base::Deadline deadline,
                      const Heard& heard) {
  deps_.colleagues.store.reservations().ask(
      {.id = terms_.id, .what = std::move(what)}, deadline,
      [self = shared_from_this(), heard,
       since = base::monotonic_now()](const Result<ReservationAnswer>& said) {
        self->deps_.colleagues.events.on_store_call(base::monotonic_now() - since,
                                                    said ? nullptr : &said.error());
        heard(*self, said);
      });
}

void ReserveFlow::start() {
  // counted by this node alone, and by nobody who settles
  for (const LimitAnswer& limit : answer_.limits) {
    if (limit.applied.check.terms.mode == core::Mode::Local) return answered_(not_shared(limit));
  }
  began_ = base::monotonic_now();
  ask(store::reservation::Begin{claimant_}, deps_.colleagues.within(deadline_),
      std::mem_fn(&ReserveFlow::on_begun));
}

void ReserveFlow::on_begun(const Result<ReservationAnswer>& said) {
  if (!said && said.error().code == ErrorCode::CapacityExhausted) return answered_(said.error());
  if (said && !said->done) return tell_known(*said->before);
  decide(said.has_value());
}

void ReserveFlow::tell_known(const store::Reservation& known) {
  Reserved reserved{.outcome = Reserved::Outcome::Settled, .id = terms_.id, .known = known};
  if (known.state == ReservationState::Pending) {
    reserved.outcome = Reserved::Outcome::Busy;
  } else if (known.state == ReservationState::Open && known.left > Duration{0} &&
             known.estimate == terms_.estimate && is_of_these_limits(known)) {
    reserved.outcome = Reserved::Outcome::Repeated;
    reserved.left = known.left;
  }
  answered_(std::move(reserved));
}

// Without a record nothing may be charged, because nothing could be settled.
void ReserveFlow::decide(bool has_begun) {
  if (!has_begun) return answer_by_policy();
  RequestFlow::start(
      deps_.colleagues, std::move(answer_), domain_, deadline_,
      [self = shared_from_this()](Answer answer) { self->on_decided(std::move(answer)); },
      RequestFlow::Reporting::Caller);
}

void ReserveFlow::on_decided(Answer answer) {
  answer_ = std::move(answer);
  const store::reservation::Drop drop{claimant_};  // or the id stays taken for a while
  if (!answer_.allowed) {
    return ask(drop, deps_.own_deadline(),
               [](ReserveFlow& flow, const auto& /*unused*/) { flow.finish({}); });
  }
  if (is_by_policy_alone()) {  // there is nothing to settle, and the store has failed once
    ask(drop, deps_.own_deadline(), [](ReserveFlow& /*unused*/, const auto& /*unused*/) {});
    return finish({});
  }
  ask(store::reservation::Confirm{claimant_, terms_.estimate, terms_.lasts, held()},
      deps_.own_deadline(), std::mem_fn(&ReserveFlow::on_confirmed));
}

void ReserveFlow::on_confirmed(const Result<ReservationAnswer>& said) {
  if (said && said->done) return finish(terms_.id);
  if (said) {  // it took too long, and the id is free again or has another owner
    refund_charged();
    return answered_(Reserved{.outcome = Reserved::Outcome::Busy, .id = terms_.id});
  }
  ask(store::reservation::Drop{claimant_}, deps_.own_deadline(),
      std::mem_fn(&ReserveFlow::on_dropped));
}

void ReserveFlow::on_dropped(const Result<ReservationAnswer>& said) {
  if (said && !is_void(*said)) return finish(terms_.id);  // only the answer was lost
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
  refund_held(deps_, charged(), deps_.own_deadline(), [] {});
}

// The client has its answer by then. One that named the id may have found the reservation open in
// the meantime, and keeps it; otherwise nobody knows of it.
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

void ReserveFlow::on_dropped_later(const ReservationAnswer& said, const HeldRefund& taken) const {
  if (is_void(said)) return refund_held(deps_, taken, deps_.own_deadline(), [] {});
  if (has_own_id_) return;
  std::make_shared<SettleFlow>(deps_, terms_.id,
                               store::reservation::Cancel{.settler = unique_name()},
                               [](const Result<Settled>& /*nobody waits for it*/) {})
      ->start(deps_.own_deadline());
}

// Nothing is reserved. What the store decided does not stand, because its units go back.
void ReserveFlow::answer_by_policy() {
  for (LimitAnswer& limit : answer_.limits) {
    if (limit.local && limit.decision && limit.decision->allowed()) {
      deps_.colleagues.local.undo({limit.applied.check});
    }
    limit.decision.reset();
    limit.local = false;
  }
  answer_.strictest.reset();
  RequestFlow::start_without_store(
      deps_.colleagues, std::move(answer_), domain_,
      [self = shared_from_this()](Answer answer) {
        self->answer_ = std::move(answer);
        self->finish({});
      },
      RequestFlow::Reporting::Caller);
}

void ReserveFlow::finish(std::string id) {
  deps_.colleagues.events.on_answer(domain_, answer_);
  const Duration left = id.empty() ? Duration{0} : terms_.lasts;
  answered_(Reserved{.answer = std::move(answer_), .id = std::move(id), .left = left});
}

HeldRefund ReserveFlow::charged() const {
  return {.held = held(), .units = terms_.estimate, .begun = began_};
}

// Of shadow rules and alternatives only those were taken that had room. One that holds nothing was
// let pass by a policy.
bool ReserveFlow::is_of_these_limits(const store::Reservation& known) const {
  std::map<core::CountName, std::uint64_t> weights;
  for (std::size_t i = 0; i < answer_.limits.size(); ++i) {
    std::uint64_t& weight = weights[answer_.limits[i].applied.check.name];
    weight += std::min(weights_[i], UINT64_MAX - weight);
  }
  const auto is_asked_for = [&](const HeldCount& each) {
    const auto found = weights.find(each.name);
    return found != weights.end() && found->second == each.weight;
  };
  const auto is_held = [&](const LimitAnswer& limit) {
    return role_of(limit.applied) != Role::Enforced ||
           std::any_of(known.held.begin(), known.held.end(), [&](const HeldCount& each) {
             return each.name == limit.applied.check.name;
           });
  };
  return known.held.empty() || (std::all_of(known.held.begin(), known.held.end(), is_asked_for) &&
                                std::all_of(answer_.limits.begin(), answer_.limits.end(), is_held));
}

// What was really taken, each count once.
std::vector<HeldCount> ReserveFlow::held() const {
  std::vector<HeldCount> all;
  for (std::size_t i = 0; i < answer_.limits.size(); ++i) {
    const LimitAnswer& limit = answer_.limits[i];
    if (!limit.decision || !limit.decision->allowed() || limit.local) continue;
    const core::NamedCheck& check = limit.applied.check;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const HeldCount& each) { return each.name == check.name; });
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

}  // namespace penstock::service
