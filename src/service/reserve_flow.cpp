#include "service/reserve_flow.hpp"

#include "core/exact_span.hpp"
#include "service/unique_name.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::service {

using store::HeldCount;
using store::ReservationAnswer;
using store::ReservationState;

std::uint64_t times(std::uint64_t weight, std::uint64_t units) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(weight, units, &product) ? UINT64_MAX : product;
}

namespace {

// What is given back arrives later than it was decided; the count must not have forgotten it by
// then.
constexpr Duration kOnTheWay = std::chrono::seconds{1};

// How many of these units the count cannot have forgotten by itself. A window has all of them until
// it is over. A bucket refills: had less been taken, it might have been full for a while, and what
// it would have missed then is not missing any more. That is at most as much as was refilled since
// the units were taken, once what had been missing before is refilled.
std::uint64_t still_counted(const HeldCount& held, std::uint64_t units, Duration age) {
  if (held.counts_for - age <= kOnTheWay) return 0;
  if (!held.quota.is_bucket()) return units;
  const Duration missing = held.counts_for - age - kOnTheWay;
  return std::min<std::uint64_t>(
      units, core::tokens_in({.whole = missing.count(), .part = 0}, held.quota));
}

Error not_shared(const LimitAnswer& limit) {
  const std::string name =
      limit.applied.rule == nullptr ? limit.applied.check.name.limit : limit.applied.rule->name;
  return {ErrorCode::InvalidInput, "rule \"" + name +
                                       "\" is decided by each node alone (mode: local) and cannot "
                                       "be reserved"};
}

}  // namespace

void give_back(const Colleagues& colleagues, const std::vector<HeldCount>& held,
               std::uint64_t units, Duration age, base::Deadline deadline,
               std::function<void(Result<void>)> done) {
  std::vector<core::NamedCheck> checks;
  for (const HeldCount& each : held) {
    const std::uint64_t counted = still_counted(each, times(each.weight, units), age);
    if (counted == 0) continue;
    checks.push_back({.name = each.name, .quota = each.quota, .cost = {counted}});
  }
  if (checks.empty()) return done({});
  colleagues.store.refund(std::move(checks), deadline,
                          [&events = colleagues.events, since = base::monotonic_now(),
                           done = std::move(done)](const Result<store::Store::Decisions>& said) {
                            events.on_store_call(base::monotonic_now() - since,
                                                 said ? nullptr : &said.error());
                            done(said ? Result<void>{} : said.error());
                          });
}

ReserveFlow::ReserveFlow(const Colleagues& colleagues, Answer unasked, std::string domain,
                         ReservationTerms terms, base::Deadline deadline,
                         Reservations::Answered<Reserved> answered)
    : colleagues_(colleagues),
      answer_(std::move(unasked)),
      domain_(std::move(domain)),
      terms_(std::move(terms)),
      deadline_(colleagues.within(deadline)),
      answered_(std::move(answered)),
      claimant_(unique_name()) {
  if (terms_.id.empty()) terms_.id = unique_name();
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

void ReserveFlow::ask(decltype(store::ReservationAsk::what) what,
                      void (ReserveFlow::*next)(const Result<ReservationAnswer>&)) {
  colleagues_.store.reservations().ask(
      {.id = terms_.id, .what = std::move(what)}, deadline_,
      [self = shared_from_this(), next,
       since = base::monotonic_now()](const Result<ReservationAnswer>& said) {
        self->colleagues_.events.on_store_call(base::monotonic_now() - since,
                                               said ? nullptr : &said.error());
        ((*self).*next)(said);
      });
}

void ReserveFlow::start() {
  // counted by this node alone, and by nobody who settles
  for (const LimitAnswer& limit : answer_.limits) {
    if (limit.applied.check.terms.mode == core::Mode::Local) return answered_(not_shared(limit));
  }
  began_ = base::monotonic_now();
  ask(store::reservation::Begin{claimant_}, &ReserveFlow::on_begun);
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

// What could not be written down would be taken for nobody to settle: then no limit is asked.
void ReserveFlow::decide(bool has_begun) {
  if (has_begun) {
    return RequestFlow::start(
        colleagues_, std::move(answer_), domain_, deadline_,
        [self = shared_from_this()](Answer answer) { self->on_decided(std::move(answer)); });
  }
  RequestFlow::start_without_store(colleagues_, std::move(answer_), domain_,
                                   [self = shared_from_this()](Answer answer) {
                                     self->answer_ = std::move(answer);
                                     self->finish({});
                                   });
}

void ReserveFlow::on_decided(Answer answer) {
  answer_ = std::move(answer);
  if (answer_.allowed) {
    return ask(store::reservation::Confirm{claimant_, terms_.estimate, terms_.lasts, held()},
               &ReserveFlow::on_confirmed);
  }
  colleagues_.store.reservations().ask(
      {.id = terms_.id, .what = store::reservation::Drop{claimant_}},
      colleagues_.within(base::Deadline::max()),  // or the id stays taken for a while
      [self = shared_from_this()](const auto&) { self->finish({}); });
}

void ReserveFlow::on_confirmed(const Result<ReservationAnswer>& said) {
  if (said && said->done) return finish(terms_.id);
  // certainly not written down: what was taken is given back, by the one who knows what that is
  const bool is_void = said || said.error().code == ErrorCode::Unavailable ||
                       said.error().code == ErrorCode::Overloaded;
  if (answer_.reason == Reason::FailedOpen || answer_.reason == Reason::DecidedLocally) {
    return finish({});
  }
  if (is_void) {
    const auto age = std::chrono::ceil<Duration>(base::monotonic_now() - began_);
    give_back(colleagues_, held(), terms_.estimate, age, colleagues_.within(base::Deadline::max()),
              [](const Result<void>& /*nobody waits for it*/) {});
  }
  if (!said) return answered_(said.error());
  answered_(Reserved{.outcome = Reserved::Outcome::Busy, .id = terms_.id});
}

void ReserveFlow::finish(std::string id) {
  const Duration left = id.empty() ? Duration{0} : terms_.lasts;
  answered_(Reserved{.answer = std::move(answer_), .id = std::move(id), .left = left});
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
