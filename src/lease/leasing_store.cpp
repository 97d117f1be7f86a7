#include "lease/leasing_store.hpp"

#include "core/share.hpp"
#include "lease/leased_request.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::lease {
namespace {

// Of many who wait until nearly the same moment, not each is looked for in a turn of its own.
constexpr std::chrono::microseconds kBetweenWakes{500};

// This node alone decides, about all of the limit.
bool is_undivided(const core::NamedCheck* check) {
  return check->terms.mode == core::Mode::Local && !check->terms.divided;
}

}  // namespace

LeasingStore::LeasingStore(std::unique_ptr<store::Store> shared, Surroundings surroundings)
    : surroundings_(std::move(surroundings)),
      versions_(surroundings_.versions != nullptr ? surroundings_.versions
                                                  : std::make_shared<KeyVersions>()),
      hasher_(versions_->hasher()),
      self_(std::make_shared<LeasingStore*>(this)),
      shared_(*shared),
      owned_(std::move(shared)) {}

namespace {

Error closed() { return {ErrorCode::Unavailable, "the store was closed"}; }

}  // namespace

// Whoever hears an answer may ask again: nothing is begun any more, and what is passed on finds the
// shared store until it has answered all that wait there.
LeasingStore::~LeasingStore() {
  is_closing_ = true;
  Answers answers;
  table_.fail_all(closed(), answers);
  for (const Answer& answer : answers) answer.tell();
  owned_.reset();
}

store::Hash128 LeasingStore::hash_of(const core::CountName& name) const {
  const store::Hash128 subject = hasher_.key(name.subject);
  return name.limit.empty() ? subject : hasher_.limit_of(subject, name.limit);
}

Holding* LeasingStore::known_holding(const store::Hash128& hash, const core::NamedCheck& check,
                                     base::Deadline now) {
  if (check.terms.mode == core::Mode::Exact || check.terms.mode == core::Mode::Local) {
    return nullptr;
  }
  Holding* const holding = table_.find(LeaseTable::key_of(hash, check.quota));
  if (holding != nullptr) holding->adopt(check.quota, check.terms, now);
  return holding;
}

Holding* LeasingStore::holding_for(const store::Hash128& hash, const core::NamedCheck& check,
                                   base::Deadline now) {
  Holding* const known = known_holding(hash, check, now);
  if (check.cost.units == 0) return nullptr;  // the store knows better what is left
  switch (check.terms.mode) {
    case core::Mode::Exact:
    case core::Mode::Local: return nullptr;
    case core::Mode::Lease:
    case core::Mode::LeaseStrict: return known != nullptr ? known : table_.hold(hash, check, now);
    case core::Mode::Adaptive: break;
  }
  if (known != nullptr) {
    if (!known->is_cold(now) || known->is_needed() || known->in_hand(now) > 0) return known;
    table_.give_up(LeaseTable::key_of(hash, check.quota));
    return nullptr;
  }
  const auto interval = static_cast<std::uint32_t>(now.time_since_epoch() / check.terms.lifetime);
  return hotness_.note(hash, interval) ? table_.hold(hash, check, now) : nullptr;
}

LeasingStore::Place LeasingStore::place_of(const store::Hash128& hash,
                                           const core::NamedCheck& check, base::Deadline now) {
  if (check.terms.mode == core::Mode::Local) return Place::Here;
  const Holding* const holding = holding_for(hash, check, now);
  // a strict lease is kept account of: checks may not take from the same bucket
  const bool is_strict = check.terms.mode == core::Mode::LeaseStrict && check.quota.is_bucket();
  if (is_strict && check.cost.units > 0) return Place::Leased;
  return holding != nullptr && holding->covers(check.cost, now) ? Place::Leased : Place::Shared;
}

bool LeasingStore::check_at_once(std::span<const core::NamedCheck* const> checks,
                                 std::span<Decision> decisions) {
  if (checks.size() > kUsualLimits || is_closing_) return false;
  if (std::all_of(checks.begin(), checks.end(), is_undivided)) {
    surroundings_.memory.check_all(checks, decisions);
    return true;
  }
  const base::Deadline now = base::monotonic_now();
  std::array<store::Hash128, kUsualLimits> hashes;
  for (std::size_t i = 0; i < checks.size(); ++i) hashes.at(i) = hash_of(checks[i]->name);
  if (repeat_denial(checks, hashes, decisions, now)) return true;
  // nobody takes who would have to give back for certain
  std::array<Holding*, kUsualLimits> holdings{};
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i]->cost.units == 0) return false;
    holdings.at(i) = known_holding(hashes.at(i), *checks[i], now);
    if (holdings.at(i) == nullptr) return false;
  }
  std::array<Holding::Taken, kUsualLimits> taken{};
  std::size_t next = 0;
  for (; next < checks.size(); ++next) {
    const std::optional<Decision> said = holdings.at(next)->take(checks[next]->cost, now);
    if (!said || !said->allowed()) break;
    taken.at(next) = holdings.at(next)->last_taken();
    ask_soon(LeaseTable::key_of(hashes.at(next), checks[next]->quota), now);
    decisions[next] = *said;
  }
  if (next == checks.size()) {
    counted_.decided_by_lease += next;
    return true;
  }
  while (next-- > 0) holdings.at(next)->put_back(checks[next]->cost, taken.at(next), now);
  return false;
}

void LeasingStore::check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                         Answered<Decisions> answered) {
  if (is_closing_) return answered(closed());
  const base::Deadline now = base::monotonic_now();
  std::vector<store::Hash128> hashes;
  hashes.reserve(checks.size());
  for (const core::NamedCheck& check : checks) hashes.push_back(hash_of(check.name));
  if (checks.size() <= kUsualLimits) {
    std::array<const core::NamedCheck*, kUsualLimits> places{};
    for (std::size_t i = 0; i < checks.size(); ++i) places.at(i) = &checks[i];
    Decisions decisions(checks.size());
    if (repeat_denial({places.data(), checks.size()}, hashes, decisions, now)) {
      return answered(std::move(decisions));
    }
  }
  std::vector<Place> places;
  places.reserve(checks.size());
  bool all_shared = true;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    places.push_back(place_of(hashes[i], checks[i], now));
    all_shared = all_shared && places.back() == Place::Shared;
  }
  if (all_shared) return ask_shared(std::move(checks), deadline, std::move(answered));
  LeasedRequest::start(
      *this,
      {.checks = std::move(checks), .hashes = std::move(hashes), .places = std::move(places)},
      deadline, std::move(answered));
}

void LeasingStore::note_admitted(const store::Hash128& hash, const Quota& quota, Cost cost,
                                 const Decision& said, base::Deadline asked) {
  const LeaseTable::Key key = LeaseTable::key_of(hash, quota);
  Holding* const holding = table_.find(key);
  if (holding == nullptr || holding->is_strict() || is_closing_) return;
  const base::Deadline now = base::monotonic_now();
  holding->note_admitted(cost, said, asked, now);
  ask_soon(key, now);
}

void LeasingStore::ask_soon(const LeaseTable::Key& key, base::Deadline now) {
  if (table_.review(key, now)) post_asking();
}

void LeasingStore::post_asking() {
  if (std::exchange(is_posted_, true)) return;
  surroundings_.post([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->ask_for_leases();
  });
}

void LeasingStore::ask_for_leases() {
  is_posted_ = false;
  const base::Deadline now = base::monotonic_now();
  LeaseTable::Asks all = table_.asks(surroundings_.nodes() * surroundings_.holders_per_node, now);
  if (table_.has_ready()) post_asking();
  if (all.asks.empty()) return;
  counted_.leases_asked += all.asks.size();
  lease(
      std::move(all.asks), now + surroundings_.timeout,
      [this, keys = std::move(all.keys)](std::size_t ask, const Result<store::LeaseGrant>& grant) {
        Answers answers;
        const base::Deadline heard = base::monotonic_now();
        if (grant) counted_.units_leased += grant->granted;
        table_.on_grant(keys[ask], grant, heard, answers);
        ask_soon(keys[ask], heard);
        watch(keys[ask]);
        for (const Answer& answer : answers) answer.tell();
      });
}

void LeasingStore::watch(const LeaseTable::Key& key) {
  if (!surroundings_.wake_at || !table_.watch(key)) return;
  watched_.emplace(table_.watched(key), key);
  wake_later();
}

void LeasingStore::wake_later() {
  if (watched_.empty() || is_closing_) return;
  const base::Deadline next = std::max(watched_.begin()->first, woke_ + kBetweenWakes);
  if (next >= wakes_at_) return;
  wakes_at_ = next;
  surroundings_.wake_at(wakes_at_, [weak = std::weak_ptr<LeasingStore*>(self_)] {
    if (const auto self = weak.lock()) (*self)->tend_watched();
  });
}

void LeasingStore::tend_watched() {
  wakes_at_ = base::Deadline::max();
  const base::Deadline now = base::monotonic_now();
  woke_ = now;
  Answers answers;
  while (!watched_.empty() && watched_.begin()->first <= now) {
    const auto [until, key] = *watched_.begin();
    watched_.erase(watched_.begin());
    const base::Deadline next = table_.tend(key, until, now, answers);
    if (next != base::Deadline::max()) watched_.emplace(next, key);
  }
  if (table_.has_ready()) post_asking();
  wake_later();
  for (const Answer& answer : answers) answer.tell();
}

core::NamedCheck LeasingStore::local_share(const core::NamedCheck& check) const {
  core::NamedCheck share = check;
  if (check.terms.divided) share.quota = core::share_of(check.quota, surroundings_.nodes());
  return share;
}

// Of limits of this node alone, this node has it back; decisions stay in their order.
void LeasingStore::refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                          Answered<Decisions> answered) {
  Decisions here(checks.size());
  std::vector<std::size_t> elsewhere;
  std::vector<core::NamedCheck> shared;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].terms.mode == core::Mode::Local) {
      const core::NamedCheck mine = local_share(checks[i]);
      surroundings_.memory.refund({&mine, 1}, {&here[i], 1});
    } else {
      elsewhere.push_back(i);
      shared.push_back(std::move(checks[i]));
    }
  }
  if (shared.empty()) return answered(std::move(here));
  if (shared.size() == here.size())
    return refund_shared(std::move(shared), deadline, std::move(answered));
  refund_shared(std::move(shared), deadline,
                [here = std::move(here), elsewhere = std::move(elsewhere),
                 answered = std::move(answered)](const Result<Decisions>& said) mutable {
                  if (!said) return answered(said.error());
                  for (std::size_t i = 0; i < elsewhere.size(); ++i)
                    here[elsewhere[i]] = (*said)[i];
                  answered(std::move(here));
                });
}

void LeasingStore::refund_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                                 Answered<Decisions> answered) {
  std::vector<core::CountName> names;
  for (const core::NamedCheck& check : checks) names.push_back(check.name);
  shared_.refund(
      std::move(checks), deadline,
      [this, names = std::move(names), answered = std::move(answered)](Result<Decisions> said) {
        for (const core::CountName& name : names) forget(name, Change::Better);
        answered(std::move(said));
      });
}

void LeasingStore::reset(std::vector<core::CountName> names, base::Deadline deadline,
                         Answered<bool> answered) {
  for (const core::CountName& name : names) surroundings_.memory.reset(name);
  std::vector<core::CountName> copies = names;
  shared_.reset(
      std::move(names), deadline,
      [this, copies = std::move(copies), answered = std::move(answered)](const Result<bool>& said) {
        for (const core::CountName& name : copies) forget(name, Change::Worse);
        answered(said);
      });
}

void LeasingStore::block(std::vector<core::CountName> names, Duration duration,
                         base::Deadline deadline, Answered<bool> answered) {
  for (const core::CountName& name : names) surroundings_.memory.block(name, duration);
  std::vector<core::CountName> copies = names;
  shared_.block(
      std::move(names), duration, deadline,
      [this, copies = std::move(copies), answered = std::move(answered)](const Result<bool>& said) {
        for (const core::CountName& name : copies) forget(name, Change::Worse);
        answered(said);
      });
}

void LeasingStore::forget(const core::CountName& name, Change change) {
  const store::Hash128 hash = hash_of(name);
  versions_->advance(hash);  // an answer that is on its way is not remembered
  denials_.forget(hash);
  if (change == Change::Worse) {
    const base::Deadline now = base::monotonic_now();
    table_.drop(hash, now);
    for (const LeaseTable::Key& key : table_.keys_of(hash)) ask_soon(key, now);
  } else {
    table_.doubt(hash);
  }
}

void LeasingStore::forget_all() {
  ++gaps_;
  denials_.forget_all();
  table_.doubt_all();
}

void LeasingStore::leave(std::function<void()> done) {
  const base::Deadline now = base::monotonic_now();
  const base::Deadline until = now + std::min(surroundings_.timeout, Holding::kHeardWithin);
  LeaseTable::Leftovers leftovers = table_.leave(now);
  auto open =
      std::make_shared<std::size_t>(leftovers.reports.size() + leftovers.refunds.size() + 1);
  const auto close = [open, done = std::move(done)] {
    if (--*open == 0) done();
  };
  if (!leftovers.reports.empty()) {
    surroundings_.leases.lease(
        std::move(leftovers.reports), until,
        [close](std::size_t /*ask*/, const Result<store::LeaseGrant>& /*grant*/) { close(); });
  }
  for (core::NamedCheck& refund : leftovers.refunds) {
    shared_.refund({std::move(refund)}, until, [close](const Result<Decisions>&) { close(); });
  }
  close();
}

LeasingStore::Health LeasingStore::health() const {
  Health health = shared_.health();
  health.decided_by_lease = counted_.decided_by_lease;
  health.decided_by_denial = counted_.decided_by_denial;
  health.leases_asked = counted_.leases_asked;
  health.units_leased = counted_.units_leased;
  health.leased_counts = table_.size();
  return health;
}

void LeasingStore::add(CounterKind kind, std::string name, std::int64_t delta,
                       std::optional<Duration> lifetime, base::Deadline deadline,
                       Answered<std::int64_t> answered) {
  shared_.add(kind, std::move(name), delta, lifetime, deadline, std::move(answered));
}

void LeasingStore::get(CounterKind kind, std::string name, base::Deadline deadline,
                       Answered<std::int64_t> answered) {
  shared_.get(kind, std::move(name), deadline, std::move(answered));
}

void LeasingStore::remove(std::string name, base::Deadline deadline, Answered<bool> answered) {
  shared_.remove(std::move(name), deadline, std::move(answered));
}

void LeasingStore::look(std::string name, base::Deadline deadline, Answered<Counter> answered) {
  shared_.look(std::move(name), deadline, std::move(answered));
}

void LeasingStore::expire(std::string name, Duration lifetime, Renewal renewal,
                          base::Deadline deadline, Answered<bool> answered) {
  shared_.expire(std::move(name), lifetime, renewal, deadline, std::move(answered));
}

}  // namespace penstock::lease
