#include "lease/leased_request.hpp"

#include <algorithm>
#include <utility>

namespace penstock::lease {

using store::Store;

namespace {

// What a limit that was peeked at says to a request of this cost. When nothing counts as used any
// more, the cost fits.
Decision judged(const Decision& look, Cost cost) {
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
  request.release()->take_leased();  // finish() takes it back
}

LeasedRequest::LeasedRequest(LeasingStore& store, Limits limits, base::Deadline deadline,
                             Answered answered)
    : store_(store),
      checks_(std::move(limits.checks)),
      hashes_(std::move(limits.hashes)),
      places_(std::move(limits.places)),
      deadline_(
          std::min<base::Deadline>(deadline, base::deadline_after(store.surroundings_.timeout))),
      answered_(std::move(answered)),
      decisions_(checks_.size()),
      decided_(checks_.size(), false),
      taken_(checks_.size()) {}

void LeasedRequest::take_leased() {
  const base::Deadline now = base::monotonic_now();
  while (next_ < checks_.size()) {
    if (places_[next_] != Place::Leased) {
      ++next_;
      continue;
    }
    const core::NamedCheck& check = checks_[next_];
    const LeaseTable::Key key = LeaseTable::key_of(hashes_[next_], check.quota);
    Holding* const holding = store_.table_.hold(hashes_[next_], check, now);
    if (holding == nullptr || holding->is_crowded()) {
      give_back(now);
      return finish(Error{ErrorCode::Overloaded, holding == nullptr
                                                     ? "too many counts are leased already"
                                                     : "too many wait for one count already"});
    }
    const std::optional<Decision> said = holding->take(check.cost, now);
    if (said && said->allowed()) taken_[next_] = holding->last_taken();
    if (!said && !holding->is_strict()) {
      places_[next_++] = Place::Shared;  // another limit of this request took what was in hand
      continue;
    }
    if (!said) {
      const auto use = is_last() ? Holding::Use::Final : Holding::Use::MayBePutBack;
      holding->wait(*this, check.cost, use, deadline_);
      store_.watch(key);
    }
    store_.ask_soon(key, now);
    if (!said) return;  // on_answer() goes on
    ++store_.counted_.decided_by_lease;
    if (!hear(*said)) return;
  }
  take_here();
}

bool LeasedRequest::is_last() const {
  const auto is_decided_before = [](Place place) { return place == Place::Leased; };
  return next_ + 1 == checks_.size() &&
         std::all_of(places_.begin(), places_.end(), is_decided_before);
}

void LeasedRequest::on_answer(const Result<Decision>& answer, const Waiting::Taken& taken) {
  taken_[next_] = taken;
  if (hear(answer)) take_leased();
}

bool LeasedRequest::hear(const Result<Decision>& answer) {
  if (!answer) {
    give_back(base::monotonic_now());
    finish(answer.error());
    return false;
  }
  decisions_[next_] = *answer;
  decided_[next_] = true;
  if (answer->allowed()) {
    ++next_;
    return true;
  }
  give_back(base::monotonic_now());
  refuse();
  return false;
}

void LeasedRequest::take_here() {
  std::vector<core::NamedCheck> here;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (places_[i] == Place::Here) here.push_back(store_.local_share(checks_[i]));
  }
  if (here.empty()) return ask_shared();
  Store::Decisions said(here.size());
  store_.surroundings_.memory.check_all(here, said);
  bool allowed = true;
  std::size_t at = 0;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (places_[i] != Place::Here) continue;
    decisions_[i] = said[at++];
    decided_[i] = true;
    allowed = allowed && decisions_[i].allowed();
  }
  if (!allowed) {
    give_back(base::monotonic_now());
    return refuse();
  }
  took_here_ = true;
  ask_shared();
}

std::vector<core::NamedCheck> LeasedRequest::shared_checks(bool look) const {
  std::vector<core::NamedCheck> checks;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (places_[i] != Place::Shared) continue;
    checks.push_back(checks_[i]);
    if (look) checks.back().cost = Cost{0};
  }
  return checks;
}

void LeasedRequest::ask_shared() {
  std::vector<core::NamedCheck> checks = shared_checks(false);
  if (checks.empty()) return finish(std::move(decisions_));
  store_.ask_shared(std::move(checks), deadline_, [this](const Result<Store::Decisions>& said) {
    if (!said) {
      give_back(base::monotonic_now());
      return finish(said.error());
    }
    bool allowed = true;
    std::size_t at = 0;
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (places_[i] != Place::Shared) continue;
      decisions_[i] = (*said)[at++];
      decided_[i] = true;
      allowed = allowed && decisions_[i].allowed();
    }
    if (allowed) return finish(std::move(decisions_));
    give_back(base::monotonic_now());
    refuse();
  });
}

void LeasedRequest::give_back(base::Deadline now) {
  for (std::size_t i = 0; i < next_; ++i) {
    if (places_[i] != Place::Leased) continue;
    if (Holding* const holding =
            store_.table_.find(LeaseTable::key_of(hashes_[i], checks_[i].quota))) {
      holding->put_back(checks_[i].cost, taken_[i], now);
    }
    decided_[i] = false;
  }
  if (!std::exchange(took_here_, false)) return;
  std::vector<core::NamedCheck> here;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (places_[i] != Place::Here) continue;
    here.push_back(store_.local_share(checks_[i]));
    decided_[i] = false;
  }
  Store::Decisions said(here.size());
  store_.surroundings_.memory.refund(here, said);
}

std::optional<Decision> LeasedRequest::known(std::size_t i, base::Deadline now) const {
  std::optional<Decision> said = store_.refuses(hashes_[i], checks_[i], now);
  return said ? said : store_.shows(hashes_[i], checks_[i], now);
}

void LeasedRequest::refuse() {
  const base::Deadline now = base::monotonic_now();
  bool all_known = true;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (decided_[i]) continue;
    const std::optional<Decision> shown = known(i, now);
    if (shown) {
      decisions_[i] = *shown;
    } else if (places_[i] == Place::Here) {
      core::NamedCheck look = store_.local_share(checks_[i]);
      look.cost = Cost{0};
      decisions_[i] = judged(store_.surroundings_.memory.check(look), checks_[i].cost);
    } else {
      all_known = false;
      // until the store says better: what it can have, at the most
      const std::uint32_t capacity = checks_[i].quota.capacity();
      decisions_[i] = Decision::allow(capacity, capacity, Duration{0});
    }
  }
  std::vector<core::NamedCheck> looks = shared_checks(true);
  if (all_known || looks.empty()) return finish(std::move(decisions_));
  store_.ask_shared(
      std::move(looks), deadline_,
      [this](const Result<Store::Decisions>& said) {
        std::size_t at = 0;
        for (std::size_t i = 0; said && i < checks_.size(); ++i) {
          if (places_[i] != Place::Shared) continue;
          const Decision& look = (*said)[at++];
          if (decided_[i]) continue;
          decisions_[i] = known(i, base::monotonic_now()).value_or(judged(look, checks_[i].cost));
        }
        finish(std::move(decisions_));
      },
      LeasingStore::Remember::Always);
}

void LeasedRequest::finish(Result<Store::Decisions> result) {
  const std::unique_ptr<LeasedRequest> self(this);
  answered_(std::move(result));
}

}  // namespace penstock::lease
