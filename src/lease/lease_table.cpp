#include "lease/lease_table.hpp"

#include <algorithm>
#include <utility>

namespace penstock::lease {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1};

}  // namespace

LeaseTable::Key LeaseTable::key_of(const store::Hash128& name, const Quota& quota) {
  // odd constants spread the few bits that differ; the name is already keyed with a secret
  const QuotaIdentity& identity = quota.identity();
  return {.high = name.high ^ (identity.amounts * 0x9e3779b97f4a7c15U),
          .low = name.low ^ (identity.shape * 0xc2b2ae3d27d4eb4fU) ^
                 (identity.amounts * 0x165667b19e3779f9U)};
}

KeyLease* LeaseTable::find(const Key& key) {
  const auto found = key_leases_.find(key);
  return found == key_leases_.end() ? nullptr : found->second.key_lease.get();
}

KeyLease* LeaseTable::find_or_create(const store::Hash128& name, const core::NamedCheck& check,
                                     base::Deadline now) {
  const Key key = key_of(name, check.quota);
  if (KeyLease* const known = find(key)) {
    known->adopt(check.quota, check.terms, now);
    return known;
  }
  make_room(now);
  if (key_leases_.size() >= max_size_) return nullptr;
  auto made = std::make_unique<KeyLease>(check.name, check.quota, check.terms, now, waste_);
  KeyLease* const key_lease = made.get();
  key_leases_.emplace(
      key, Entry{.key_lease = std::move(made), .name = name, .order_index = order_.size()});
  names_.emplace(name, key);
  order_.push_back(key);
  return key_lease;
}

void LeaseTable::erase(KeyLeases::iterator entry) {
  const auto [begin, end] = names_.equal_range(entry->second.name);
  for (auto each = begin; each != end; ++each) {
    if (each->second != entry->first) continue;
    names_.erase(each);
    break;
  }
  const std::size_t hole = entry->second.order_index;
  order_[hole] = order_.back();
  key_leases_.find(order_[hole])->second.order_index = hole;
  order_.pop_back();
  key_leases_.erase(entry);
}

// Checks two per new one: idle leases are removed without a timer.
void LeaseTable::make_room(base::Deadline now) {
  for (int looked = 0; looked < 2 && !order_.empty(); ++looked) {
    if (next_checked_ >= order_.size()) next_checked_ = 0;
    const auto found = key_leases_.find(order_[next_checked_]);
    if (found->second.key_lease->is_idle(now)) {
      erase(found);
    } else {
      ++next_checked_;
    }
  }
}

bool LeaseTable::update_ready(const Key& key, base::Deadline now) {
  const auto found = key_leases_.find(key);
  if (found == key_leases_.end() || found->second.is_ready) return !ready_.empty();
  if (found->second.key_lease->needs_refill(now)) {
    found->second.is_ready = true;
    ready_.push_back(key);
  }
  return !ready_.empty();
}

void LeaseTable::remove(const Key& key) {
  const auto found = key_leases_.find(key);
  if (found != key_leases_.end()) erase(found);
}

LeaseTable::Asks LeaseTable::asks(std::uint32_t sharers, base::Deadline now) {
  Asks asks;
  std::vector<Key> later;
  for (const Key& key : std::exchange(ready_, {})) {
    const auto found = key_leases_.find(key);
    if (found == key_leases_.end()) continue;
    found->second.is_ready = false;
    KeyLease& key_lease = *found->second.key_lease;
    if (!key_lease.needs_refill(now)) continue;
    // one call per name at a time
    const auto is_same = [&](const store::LeaseRequest& ask) {
      return ask.name == key_lease.name();
    };
    if (names_.count(found->second.name) > 1 &&
        std::any_of(asks.asks.begin(), asks.asks.end(), is_same)) {
      found->second.is_ready = true;
      later.push_back(key);
      continue;
    }
    asks.keys.push_back(key);
    asks.asks.push_back(key_lease.ask(sharers, now));
  }
  ready_ = std::move(later);
  return asks;
}

void LeaseTable::on_grant(const Key& key, const Result<store::LeaseGrant>& grant,
                          base::Deadline now, WaiterAnswers& answers) {
  KeyLease* const key_lease = find(key);
  if (key_lease == nullptr || !key_lease->is_asking()) return;
  key_lease->on_grant(grant, now, answers);
  static_cast<void>(update_ready(key, now));
}

bool LeaseTable::watch(const Key& key) {
  const auto found = key_leases_.find(key);
  if (found == key_leases_.end()) return false;
  const base::Deadline until = found->second.key_lease->next_wakeup();
  if (until >= found->second.watched) return false;
  found->second.watched = until;
  return true;
}

base::Deadline LeaseTable::watched(const Key& key) const {
  const auto found = key_leases_.find(key);
  return found == key_leases_.end() ? base::Deadline::max() : found->second.watched;
}

base::Deadline LeaseTable::on_timer(const Key& key, base::Deadline watched, base::Deadline now,
                                    WaiterAnswers& answers) {
  const auto found = key_leases_.find(key);
  // rescheduled to an earlier time since
  if (found == key_leases_.end() || found->second.watched != watched) return base::Deadline::max();
  KeyLease& key_lease = *found->second.key_lease;
  key_lease.expire_waiters(now, answers);
  key_lease.end_leases(now);
  static_cast<void>(update_ready(key, now));
  base::Deadline next = key_lease.next_wakeup();
  if (next <= now) next = now + kBetweenLooks;  // its request has not been sent yet
  found->second.watched = next;
  return next;
}

LeaseTable::UnspentUnits LeaseTable::shutdown(base::Deadline now) {
  UnspentUnits unspent;
  for (auto& [hash, entry] : key_leases_) {
    KeyLease& key_lease = *entry.key_lease;
    if (const std::uint32_t units = key_lease.returnable(now); units > 0) {
      unspent.refunds.push_back(
          {.name = key_lease.name(), .quota = key_lease.quota(), .cost = Cost{units}});
    }
    if (key_lease.is_asking()) continue;
    key_lease.drop(now);
    if (!key_lease.has_reports()) continue;
    store::LeaseRequest report = key_lease.ask(1, now);
    report.lease = {};
    unspent.reports.push_back(std::move(report));
  }
  return unspent;
}

void LeaseTable::fail_all(const Error& error, WaiterAnswers& answers) {
  for (auto& [hash, entry] : key_leases_) entry.key_lease->fail(error, answers);
}

std::vector<LeaseTable::Key> LeaseTable::keys_of(const store::Hash128& name) const {
  std::vector<Key> keys;
  const auto [begin, end] = names_.equal_range(name);
  for (auto each = begin; each != end; ++each) keys.push_back(each->second);
  return keys;
}

void LeaseTable::drop(const store::Hash128& name, base::Deadline now) {
  for (const Key& key : keys_of(name)) find(key)->drop(now);
}

void LeaseTable::mark_stale(const store::Hash128& name) {
  for (const Key& key : keys_of(name)) find(key)->mark_stale();
}

void LeaseTable::mark_all_stale() {
  for (auto& [hash, entry] : key_leases_) entry.key_lease->mark_stale();
}

}  // namespace penstock::lease
