#include "lease/lease_table.hpp"

#include <algorithm>
#include <utility>

namespace penstock::lease {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1};

}  // namespace

LeaseTable::Key LeaseTable::key_of(const store::Hash128& name, const Quota& quota) {
  // odd constants spread the few bits that differ; the name is keyed with a secret already
  const QuotaIdentity& identity = quota.identity();
  return {.high = name.high ^ (identity.amounts * 0x9e3779b97f4a7c15U),
          .low = name.low ^ (identity.shape * 0xc2b2ae3d27d4eb4fU) ^
                 (identity.amounts * 0x165667b19e3779f9U)};
}

Holding* LeaseTable::find(const Key& key) {
  const auto found = holdings_.find(key);
  return found == holdings_.end() ? nullptr : found->second.holding.get();
}

Holding* LeaseTable::hold(const store::Hash128& name, const core::NamedCheck& check,
                          base::Deadline now) {
  const Key key = key_of(name, check.quota);
  if (Holding* const known = find(key)) {
    known->adopt(check.quota, check.terms, now);
    return known;
  }
  make_room(now);
  if (holdings_.size() >= most_) return nullptr;
  auto made = std::make_unique<Holding>(check.name, check.quota, check.terms, now, waste_);
  Holding* const holding = made.get();
  holdings_.emplace(key, Entry{.holding = std::move(made), .name = name, .place = order_.size()});
  names_.emplace(name, key);
  order_.push_back(key);
  return holding;
}

void LeaseTable::erase(Holdings::iterator place) {
  const auto [begin, end] = names_.equal_range(place->second.name);
  for (auto each = begin; each != end; ++each) {
    if (each->second != place->first) continue;
    names_.erase(each);
    break;
  }
  const std::size_t hole = place->second.place;
  order_[hole] = order_.back();
  holdings_.find(order_[hole])->second.place = hole;
  order_.pop_back();
  holdings_.erase(place);
}

// Looks at two for one that comes: what nobody uses goes without a timer.
void LeaseTable::make_room(base::Deadline now) {
  for (int looked = 0; looked < 2 && !order_.empty(); ++looked) {
    if (looked_at_ >= order_.size()) looked_at_ = 0;
    const auto found = holdings_.find(order_[looked_at_]);
    if (found->second.holding->is_idle(now)) {
      erase(found);
    } else {
      ++looked_at_;
    }
  }
}

bool LeaseTable::review(const Key& key, base::Deadline now) {
  const auto found = holdings_.find(key);
  if (found == holdings_.end() || found->second.is_ready) return !ready_.empty();
  if (found->second.holding->wants_to_ask(now)) {
    found->second.is_ready = true;
    ready_.push_back(key);
  }
  return !ready_.empty();
}

void LeaseTable::give_up(const Key& key) {
  const auto found = holdings_.find(key);
  if (found != holdings_.end()) erase(found);
}

LeaseTable::Asks LeaseTable::asks(std::uint32_t sharers, base::Deadline now) {
  Asks asks;
  std::vector<Key> later;
  for (const Key& key : std::exchange(ready_, {})) {
    const auto found = holdings_.find(key);
    if (found == holdings_.end()) continue;
    found->second.is_ready = false;
    Holding& holding = *found->second.holding;
    if (!holding.wants_to_ask(now)) continue;
    // the store hears one question of a name at a time
    const auto is_same = [&](const store::LeaseAsk& ask) { return ask.name == holding.name(); };
    if (names_.count(found->second.name) > 1 &&
        std::any_of(asks.asks.begin(), asks.asks.end(), is_same)) {
      found->second.is_ready = true;
      later.push_back(key);
      continue;
    }
    asks.keys.push_back(key);
    asks.asks.push_back(holding.ask(sharers, now));
  }
  ready_ = std::move(later);
  return asks;
}

void LeaseTable::on_grant(const Key& key, const Result<store::LeaseGrant>& grant,
                          base::Deadline now, Answers& answers) {
  Holding* const holding = find(key);
  if (holding == nullptr || !holding->is_asking()) return;
  holding->on_grant(grant, now, answers);
  static_cast<void>(review(key, now));
}

bool LeaseTable::watch(const Key& key) {
  const auto found = holdings_.find(key);
  if (found == holdings_.end()) return false;
  const base::Deadline until = found->second.holding->wakes_at();
  if (until >= found->second.watched) return false;
  found->second.watched = until;
  return true;
}

base::Deadline LeaseTable::watched(const Key& key) const {
  const auto found = holdings_.find(key);
  return found == holdings_.end() ? base::Deadline::max() : found->second.watched;
}

base::Deadline LeaseTable::tend(const Key& key, base::Deadline watched, base::Deadline now,
                                Answers& answers) {
  const auto found = holdings_.find(key);
  // something was in a greater hurry since
  if (found == holdings_.end() || found->second.watched != watched) return base::Deadline::max();
  Holding& holding = *found->second.holding;
  holding.dismiss_late(now, answers);
  holding.end_leases(now);
  static_cast<void>(review(key, now));
  base::Deadline next = holding.wakes_at();
  if (next <= now) next = now + kBetweenLooks;  // the ask that it waits for has not been sent yet
  found->second.watched = next;
  return next;
}

LeaseTable::Leftovers LeaseTable::leave(base::Deadline now) {
  Leftovers leftovers;
  for (auto& [hash, entry] : holdings_) {
    Holding& holding = *entry.holding;
    if (const std::uint32_t units = holding.returnable(now); units > 0) {
      leftovers.refunds.push_back(
          {.name = holding.name(), .quota = holding.quota(), .cost = Cost{units}});
    }
    if (holding.is_asking()) continue;
    holding.drop(now);
    if (!holding.has_reports()) continue;
    store::LeaseAsk report = holding.ask(1, now);
    report.lease = {};
    leftovers.reports.push_back(std::move(report));
  }
  return leftovers;
}

void LeaseTable::fail_all(const Error& error, Answers& answers) {
  for (auto& [hash, entry] : holdings_) entry.holding->fail(error, answers);
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

void LeaseTable::doubt(const store::Hash128& name) {
  for (const Key& key : keys_of(name)) find(key)->doubt();
}

void LeaseTable::doubt_all() {
  for (auto& [hash, entry] : holdings_) entry.holding->doubt();
}

}  // namespace penstock::lease
