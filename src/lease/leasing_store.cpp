#include "lease/leasing_store.hpp"

#include "core/quota_math.hpp"
#include "lease/leased_request.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::lease {
namespace {

// This node alone decides the whole limit.
bool is_undivided(const core::NamedCheck* check) {
  return check->terms.mode == core::Mode::Local && !check->terms.divided;
}

}  // namespace

LeasingStore::LeasingStore(std::unique_ptr<store::LimitStore> shared, Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      versions_(dependencies_.versions != nullptr ? dependencies_.versions
                                                  : std::make_shared<KeyVersions>()),
      hasher_(versions_->hasher()),
      self_(std::make_shared<LeasingStore*>(this)),
      shared_(*shared),
      owned_(std::move(shared)) {}

namespace {

Error closed() { return {ErrorCode::Unavailable, "the store was closed"}; }

}  // namespace

// A caller that receives an answer may send another request: nothing new is started, and forwarded
// requests still reach the shared store until it has answered all waiters.
LeasingStore::~LeasingStore() {
  is_closing_ = true;
  WaiterAnswers answers;
  table_.fail_all(closed(), answers);
  for (const WaiterAnswer& answer : answers) answer.notify();
  owned_.reset();
}

store::Hash128 LeasingStore::hash_of(const core::LimitKey& name) const {
  const store::Hash128 subject = hasher_.key(name.subject);
  return name.limit.empty() ? subject : hasher_.limit_of(subject, name.limit);
}

KeyLease* LeasingStore::find_lease(const store::Hash128& hash, const core::NamedCheck& check,
                                   base::Deadline now) {
  if (check.terms.mode == core::Mode::Exact || check.terms.mode == core::Mode::Local) {
    return nullptr;
  }
  KeyLease* const key_lease = table_.find(LeaseTable::key_of(hash, check.quota));
  if (key_lease != nullptr) key_lease->adopt(check.quota, check.terms, now);
  return key_lease;
}

KeyLease* LeasingStore::lease_for(const store::Hash128& hash, const core::NamedCheck& check,
                                  base::Deadline now) {
  KeyLease* const known = find_lease(hash, check, now);
  if (check.cost.units == 0) return nullptr;  // a peek: the store has the exact numbers
  switch (check.terms.mode) {
    case core::Mode::Exact:
    case core::Mode::Local: return nullptr;
    case core::Mode::Lease:
    case core::Mode::LeaseStrict:
      return known != nullptr ? known : table_.find_or_create(hash, check, now);
    case core::Mode::Adaptive: break;
  }
  if (known != nullptr) {
    if (!known->is_cold(now) || known->is_needed() || known->in_hand(now) > 0) return known;
    table_.remove(LeaseTable::key_of(hash, check.quota));
    return nullptr;
  }
  const auto interval = static_cast<std::uint32_t>(now.time_since_epoch() / check.terms.lifetime);
  return hotness_.note(hash, interval) ? table_.find_or_create(hash, check, now) : nullptr;
}

LeasingStore::Decider LeasingStore::decider_of(const store::Hash128& hash,
                                               const core::NamedCheck& check, base::Deadline now) {
  if (check.terms.mode == core::Mode::Local) return Decider::Local;
  const KeyLease* const key_lease = lease_for(hash, check, now);
  // the store accounts for strict leases: checks may not charge the same bucket
  const bool is_strict = check.terms.mode == core::Mode::LeaseStrict && check.quota.is_bucket();
  if (is_strict && check.cost.units > 0) return Decider::Leased;
  return key_lease != nullptr && key_lease->covers(check.cost, now) ? Decider::Leased
                                                                    : Decider::Shared;
}

bool LeasingStore::try_check(std::span<const core::NamedCheck* const> checks,
                             std::span<Decision> decisions) {
  if (checks.size() > kInlineLimits || is_closing_) return false;
  if (std::all_of(checks.begin(), checks.end(), is_undivided)) {
    dependencies_.memory.check_all(checks, decisions);
    return true;
  }
  const base::Deadline now = base::monotonic_now();
  std::array<store::Hash128, kInlineLimits> hashes;
  for (std::size_t i = 0; i < checks.size(); ++i) hashes.at(i) = hash_of(checks[i]->name);
  if (repeat_denial(checks, hashes, decisions, now)) return true;
  // nothing is taken that would certainly be put back
  std::array<KeyLease*, kInlineLimits> key_leases{};
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i]->cost.units == 0) return false;
    key_leases.at(i) = find_lease(hashes.at(i), *checks[i], now);
    if (key_leases.at(i) == nullptr) return false;
  }
  std::array<KeyLease::TakenUnits, kInlineLimits> taken{};
  std::size_t next = 0;
  for (; next < checks.size(); ++next) {
    const std::optional<Decision> said = key_leases.at(next)->take(checks[next]->cost, now);
    if (!said || !said->allowed()) break;
    taken.at(next) = key_leases.at(next)->last_taken();
    ask_soon(LeaseTable::key_of(hashes.at(next), checks[next]->quota), now);
    decisions[next] = *said;
  }
  if (next == checks.size()) {
    stats_.decided_by_lease += next;
    return true;
  }
  while (next-- > 0) key_leases.at(next)->put_back(checks[next]->cost, taken.at(next), now);
  return false;
}

void LeasingStore::check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                         Answered<Decisions> answered) {
  if (is_closing_) return answered(closed());
  const base::Deadline now = base::monotonic_now();
  std::vector<store::Hash128> hashes;
  hashes.reserve(checks.size());
  for (const core::NamedCheck& check : checks) hashes.push_back(hash_of(check.name));
  if (checks.size() <= kInlineLimits) {
    std::array<const core::NamedCheck*, kInlineLimits> pointers{};
    for (std::size_t i = 0; i < checks.size(); ++i) pointers.at(i) = &checks[i];
    Decisions decisions(checks.size());
    if (repeat_denial({pointers.data(), checks.size()}, hashes, decisions, now)) {
      return answered(std::move(decisions));
    }
  }
  std::vector<Decider> deciders;
  deciders.reserve(checks.size());
  bool all_shared = true;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    deciders.push_back(decider_of(hashes[i], checks[i], now));
    all_shared = all_shared && deciders.back() == Decider::Shared;
  }
  if (all_shared) return ask_shared(std::move(checks), deadline, std::move(answered));
  LeasedRequest::start(
      *this,
      {.checks = std::move(checks), .hashes = std::move(hashes), .deciders = std::move(deciders)},
      deadline, std::move(answered));
}

void LeasingStore::note_admitted(const store::Hash128& hash, const Quota& quota, Cost cost,
                                 const Decision& said, base::Deadline asked) {
  const LeaseTable::Key key = LeaseTable::key_of(hash, quota);
  KeyLease* const key_lease = table_.find(key);
  if (key_lease == nullptr || key_lease->is_strict() || is_closing_) return;
  const base::Deadline now = base::monotonic_now();
  key_lease->note_admitted(cost, said, asked, now);
  ask_soon(key, now);
}

void LeasingStore::ask_soon(const LeaseTable::Key& key, base::Deadline now) {
  if (table_.update_ready(key, now)) post_asking();
}

void LeasingStore::post_asking() {
  if (std::exchange(is_posted_, true)) return;
  dependencies_.post([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->ask_for_leases();
  });
}

void LeasingStore::ask_for_leases() {
  is_posted_ = false;
  const base::Deadline now = base::monotonic_now();
  LeaseTable::Asks all = table_.asks(dependencies_.nodes() * dependencies_.holders_per_node, now);
  if (table_.has_ready()) post_asking();
  if (all.asks.empty()) return;
  stats_.requests += all.asks.size();
  lease(
      std::move(all.asks), now + dependencies_.timeout,
      [this, keys = std::move(all.keys)](std::size_t ask, const Result<store::LeaseGrant>& grant) {
        WaiterAnswers answers;
        const base::Deadline heard = base::monotonic_now();
        if (grant) stats_.units_leased += grant->granted;
        table_.on_grant(keys[ask], grant, heard, answers);
        ask_soon(keys[ask], heard);
        watch(keys[ask]);
        for (const WaiterAnswer& answer : answers) answer.notify();
      });
}

void LeasingStore::watch(const LeaseTable::Key& key) {
  if (!dependencies_.wake_at || !table_.watch(key)) return;
  watched_.emplace(table_.watched(key), key);
  wake_later();
}

void LeasingStore::wake_later() {
  if (watched_.empty() || is_closing_) return;
  const base::Deadline next =
      std::max(watched_.begin()->first, last_wakeup_ + base::kDeadlineResolution);
  if (next >= next_wakeup_) return;
  next_wakeup_ = next;
  dependencies_.wake_at(next_wakeup_, [weak = std::weak_ptr<LeasingStore*>(self_)] {
    if (const auto self = weak.lock()) (*self)->serve_due_timers();
  });
}

void LeasingStore::serve_due_timers() {
  next_wakeup_ = base::Deadline::max();
  const base::Deadline now = base::monotonic_now();
  last_wakeup_ = now;
  WaiterAnswers answers;
  while (!watched_.empty() && watched_.begin()->first <= now) {
    const auto [until, key] = *watched_.begin();
    watched_.erase(watched_.begin());
    const base::Deadline next = table_.on_timer(key, until, now, answers);
    if (next != base::Deadline::max()) watched_.emplace(next, key);
  }
  if (table_.has_ready()) post_asking();
  wake_later();
  for (const WaiterAnswer& answer : answers) answer.notify();
}

core::NamedCheck LeasingStore::node_share(const core::NamedCheck& check) const {
  core::NamedCheck share = check;
  if (check.terms.divided) share.quota = core::share_of(check.quota, dependencies_.nodes());
  return share;
}

// Limits local to this node are refunded here; decisions keep their order.
void LeasingStore::refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                          Answered<Decisions> answered) {
  Decisions here(checks.size());
  std::vector<std::size_t> elsewhere;
  std::vector<core::NamedCheck> shared;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].terms.mode == core::Mode::Local) {
      const core::NamedCheck mine = node_share(checks[i]);
      dependencies_.memory.refund({&mine, 1}, {&here[i], 1});
    } else {
      elsewhere.push_back(i);
      shared.push_back(std::move(checks[i]));
    }
  }
  if (shared.empty()) return answered(std::move(here));
  if (shared.size() == here.size()) {
    return refund_shared(std::move(shared), deadline, std::move(answered));
  }
  refund_shared(std::move(shared), deadline,
                [here = std::move(here), elsewhere = std::move(elsewhere),
                 answered = std::move(answered)](const Result<Decisions>& said) mutable {
                  if (!said) return answered(said.error());
                  for (std::size_t i = 0; i < elsewhere.size(); ++i) {
                    here[elsewhere[i]] = (*said)[i];
                  }
                  answered(std::move(here));
                });
}

void LeasingStore::refund_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                                 Answered<Decisions> answered) {
  std::vector<core::LimitKey> names;
  names.reserve(checks.size());
  for (const core::NamedCheck& check : checks) names.push_back(check.name);
  shared_.refund(
      std::move(checks), deadline,
      [this, names = std::move(names), answered = std::move(answered)](Result<Decisions> said) {
        for (const core::LimitKey& name : names) forget(name, Change::Refunded);
        answered(std::move(said));
      });
}

void LeasingStore::reset(std::vector<core::LimitKey> names, base::Deadline deadline,
                         Answered<bool> answered) {
  for (const core::LimitKey& name : names) dependencies_.memory.reset(name);
  std::vector<core::LimitKey> copies = names;
  shared_.reset(
      std::move(names), deadline,
      [this, copies = std::move(copies), answered = std::move(answered)](const Result<bool>& said) {
        for (const core::LimitKey& name : copies) forget(name, Change::Revoked);
        answered(said);
      });
}

void LeasingStore::block(std::vector<core::LimitKey> names, Duration duration,
                         base::Deadline deadline, Answered<bool> answered) {
  for (const core::LimitKey& name : names) dependencies_.memory.block(name, duration);
  std::vector<core::LimitKey> copies = names;
  shared_.block(
      std::move(names), duration, deadline,
      [this, copies = std::move(copies), answered = std::move(answered)](const Result<bool>& said) {
        for (const core::LimitKey& name : copies) forget(name, Change::Revoked);
        answered(said);
      });
}

void LeasingStore::forget(const core::LimitKey& name, Change change) {
  const store::Hash128 hash = hash_of(name);
  versions_->advance(hash);  // an answer in flight is not cached
  denials_.forget(hash);
  if (change == Change::Revoked) {
    const base::Deadline now = base::monotonic_now();
    table_.drop(hash, now);
    for (const LeaseTable::Key& key : table_.keys_of(hash)) ask_soon(key, now);
  } else {
    table_.mark_stale(hash);
  }
}

void LeasingStore::forget_all() {
  ++gaps_;
  denials_.forget_all();
  table_.mark_all_stale();
}

void LeasingStore::shutdown(std::function<void()> done) {
  const base::Deadline now = base::monotonic_now();
  const base::Deadline until = now + std::min(dependencies_.timeout, KeyLease::kReportTimeout);
  LeaseTable::UnspentUnits unspent = table_.shutdown(now);
  auto open = std::make_shared<std::size_t>(unspent.reports.size() + unspent.refunds.size() + 1);
  const auto close = [open, done = std::move(done)] {
    if (--*open == 0) done();
  };
  if (!unspent.reports.empty()) {
    dependencies_.leases.lease(
        std::move(unspent.reports), until,
        [close](std::size_t /*ask*/, const Result<store::LeaseGrant>& /*grant*/) { close(); });
  }
  for (core::NamedCheck& refund : unspent.refunds) {
    shared_.refund({std::move(refund)}, until, [close](const Result<Decisions>&) { close(); });
  }
  close();
}

store::LeaseStats LeasingStore::stats() const {
  store::LeaseStats stats = stats_;
  stats.leased_keys = table_.size();
  return stats;
}

}  // namespace penstock::lease
