#include "lease/leased_request.hpp"

#include <algorithm>
#include <utility>

namespace penstock::lease {

namespace {

// The decision of a peeked limit for a request of this cost. When nothing is used any more, the
// cost fits.
Decision decision_for_cost(const Decision& look, Cost cost) {
  if (!look.allowed() || cost.units <= look.remaining()) return look;
  if (cost.units > look.limit()) {
    return Decision::never_fits(look.limit(), look.remaining(), look.reset_after());
  }
  return Decision::deny(look.limit(), look.remaining(), look.reset_after(), look.reset_after());
}

}  // namespace

void LeasedRequest::start(LeasingStore& store, Limits limits, base::Deadline deadline,
                          Answered answered) {
  std::unique_ptr<LeasedRequest> request(
      new LeasedRequest(store, std::move(limits), deadline, std::move(answered)));
  request.release()->take_leased();  // finish() deletes it
}

LeasedRequest::LeasedRequest(LeasingStore& store, Limits limits, base::Deadline deadline,
                             Answered answered)
    : store_(store),
      checks_(std::move(limits.checks)),
      hashes_(std::move(limits.hashes)),
      deciders_(std::move(limits.deciders)),
      deadline_(
          std::min<base::Deadline>(deadline, base::deadline_after(store.dependencies_.timeout))),
      answered_(std::move(answered)),
      decisions_(checks_.size()),
      decided_(checks_.size(), false),
      taken_(checks_.size()) {}

void LeasedRequest::take_leased() {
  const base::Deadline now = base::monotonic_now();
  while (next_ < checks_.size()) {
    if (deciders_[next_] != Decider::Leased) {
      ++next_;
      continue;
    }
    const core::NamedCheck& check = checks_[next_];
    const LeaseTable::Key key = LeaseTable::key_of(hashes_[next_], check.quota);
    KeyLease* const key_lease = store_.table_.find_or_create(hashes_[next_], check, now);
    if (key_lease == nullptr || key_lease->is_full()) {
      return_units(now);
      return finish(Error{ErrorCode::Overloaded,
                          key_lease == nullptr ? "too many keys are leased already"
                                               : "too many requests wait for one key already"});
    }
    const std::optional<Decision> said = key_lease->take(check.cost, now);
    if (said && said->allowed()) taken_[next_] = key_lease->last_taken();
    if (!said && !key_lease->is_strict()) {
      deciders_[next_++] = Decider::Shared;  // another limit of this request took the units in hand
      continue;
    }
    if (!said) {
      const auto use = is_last() ? KeyLease::Use::Final : KeyLease::Use::Revocable;
      key_lease->wait(*this, check.cost, use, deadline_);
      store_.watch(key);
    }
    store_.ask_soon(key, now);
    if (!said) return;  // on_answer() continues
    ++store_.stats_.decided_by_lease;
    if (!on_decision(*said)) return;
  }
  take_local();
}

bool LeasedRequest::is_last() const {
  const auto is_decided_before = [](Decider place) { return place == Decider::Leased; };
  return next_ + 1 == checks_.size() &&
         std::all_of(deciders_.begin(), deciders_.end(), is_decided_before);
}

void LeasedRequest::on_answer(const Result<Decision>& answer, const Waiter::TakenUnits& taken) {
  taken_[next_] = taken;
  if (on_decision(answer)) take_leased();
}

bool LeasedRequest::on_decision(const Result<Decision>& answer) {
  if (!answer) {
    return_units(base::monotonic_now());
    finish(answer.error());
    return false;
  }
  decisions_[next_] = *answer;
  decided_[next_] = true;
  if (answer->allowed()) {
    ++next_;
    return true;
  }
  return_units(base::monotonic_now());
  deny();
  return false;
}

void LeasedRequest::take_local() {
  std::vector<core::NamedCheck> here;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (deciders_[i] == Decider::Local) here.push_back(store_.node_share(checks_[i]));
  }
  if (here.empty()) return ask_shared();
  store::Decisions said(here.size());
  store_.dependencies_.memory.check_all(here, said);
  bool allowed = true;
  std::size_t at = 0;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (deciders_[i] != Decider::Local) continue;
    decisions_[i] = said[at++];
    decided_[i] = true;
    allowed = allowed && decisions_[i].allowed();
  }
  if (!allowed) {
    return_units(base::monotonic_now());
    return deny();
  }
  took_local_ = true;
  ask_shared();
}

std::vector<core::NamedCheck> LeasedRequest::shared_checks(bool look) const {
  std::vector<core::NamedCheck> checks;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (deciders_[i] != Decider::Shared) continue;
    checks.push_back(checks_[i]);
    if (look) checks.back().cost = Cost{0};
  }
  return checks;
}

void LeasedRequest::ask_shared() {
  std::vector<core::NamedCheck> checks = shared_checks(false);
  if (checks.empty()) return finish(std::move(decisions_));
  store_.ask_shared(std::move(checks), deadline_, [this](const Result<store::Decisions>& said) {
    if (!said) {
      return_units(base::monotonic_now());
      return finish(said.error());
    }
    bool allowed = true;
    std::size_t at = 0;
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (deciders_[i] != Decider::Shared) continue;
      decisions_[i] = (*said)[at++];
      decided_[i] = true;
      allowed = allowed && decisions_[i].allowed();
    }
    if (allowed) return finish(std::move(decisions_));
    return_units(base::monotonic_now());
    deny();
  });
}

void LeasedRequest::return_units(base::Deadline now) {
  for (std::size_t i = 0; i < next_; ++i) {
    if (deciders_[i] != Decider::Leased) continue;
    if (KeyLease* const key_lease =
            store_.table_.find(LeaseTable::key_of(hashes_[i], checks_[i].quota))) {
      key_lease->put_back(checks_[i].cost, taken_[i], now);
    }
    decided_[i] = false;
  }
  if (!std::exchange(took_local_, false)) return;
  std::vector<core::NamedCheck> here;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (deciders_[i] != Decider::Local) continue;
    here.push_back(store_.node_share(checks_[i]));
    decided_[i] = false;
  }
  store::Decisions said(here.size());
  store_.dependencies_.memory.refund(here, said);
}

std::optional<Decision> LeasedRequest::known(std::size_t i, base::Deadline now) const {
  std::optional<Decision> said = store_.certain_denial(hashes_[i], checks_[i], now);
  return said ? said : store_.snapshot(hashes_[i], checks_[i], now);
}

void LeasedRequest::deny() {
  const base::Deadline now = base::monotonic_now();
  bool all_known = true;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (decided_[i]) continue;
    const std::optional<Decision> shown = known(i, now);
    if (shown) {
      decisions_[i] = *shown;
    } else if (deciders_[i] == Decider::Local) {
      core::NamedCheck look = store_.node_share(checks_[i]);
      look.cost = Cost{0};
      decisions_[i] = decision_for_cost(store_.dependencies_.memory.check(look), checks_[i].cost);
    } else {
      all_known = false;
      // upper bound until the store answers: the full capacity
      const std::uint32_t capacity = checks_[i].quota.capacity();
      decisions_[i] = Decision::allow(capacity, capacity, Duration{0});
    }
  }
  std::vector<core::NamedCheck> looks = shared_checks(true);
  if (all_known || looks.empty()) return finish(std::move(decisions_));
  store_.ask_shared(
      std::move(looks), deadline_,
      [this](const Result<store::Decisions>& said) {
        std::size_t at = 0;
        for (std::size_t i = 0; said && i < checks_.size(); ++i) {
          if (deciders_[i] != Decider::Shared) continue;
          const Decision& look = (*said)[at++];
          if (decided_[i]) continue;
          decisions_[i] =
              known(i, base::monotonic_now()).value_or(decision_for_cost(look, checks_[i].cost));
        }
        finish(std::move(decisions_));
      },
      LeasingStore::Remember::Always);
}

void LeasedRequest::finish(Result<store::Decisions> result) {
  const std::unique_ptr<LeasedRequest> self(this);
  answered_(std::move(result));
}

}  // namespace penstock::lease
