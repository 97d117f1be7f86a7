#include "lease/lease_table.hpp"

#include <utility>

namespace penstock::lease {

Holding* LeaseTable::find(const store::Hash128& name) {
  const auto found = holdings_.find(name);
  return found == holdings_.end() ? nullptr : found->second.holding.get();
}

Holding* LeaseTable::hold(const store::Hash128& name, const core::NamedCheck& check,
                          base::Deadline now) {
  if (Holding* const known = find(name)) {
    known->adopt(check.quota, check.terms, now);
    return known;
  }
  make_room(now);
  if (holdings_.size() >= most_) return nullptr;
  auto made = std::make_unique<Holding>(check.name, check.quota, check.terms, now);
  Holding* const holding = made.get();
  holdings_.emplace(name, Entry{.holding = std::move(made)});
  order_.push_back(name);
  return holding;
}

// Looks at two for one that comes: what nobody uses goes without a timer.
void LeaseTable::make_room(base::Deadline now) {
  for (int looked = 0; looked < 2 && !order_.empty(); ++looked) {
    if (looked_at_ >= order_.size()) looked_at_ = 0;
    const auto found = holdings_.find(order_[looked_at_]);
    if (found != holdings_.end() && !found->second.holding->is_idle(now)) {
      ++looked_at_;
      continue;
    }
    if (found != holdings_.end()) holdings_.erase(found);
    order_[looked_at_] = order_.back();
    order_.pop_back();
  }
}

bool LeaseTable::review(const store::Hash128& name, base::Deadline now) {
  const auto found = holdings_.find(name);
  if (found == holdings_.end() || found->second.is_ready) return !ready_.empty();
  if (found->second.holding->wants_to_ask(now)) {
    found->second.is_ready = true;
    ready_.push_back(name);
  }
  return !ready_.empty();
}

void LeaseTable::give_up(const store::Hash128& name) { holdings_.erase(name); }

LeaseTable::Asks LeaseTable::asks(std::uint32_t sharers, base::Deadline now) {
  Asks asks;
  for (const store::Hash128& name : std::exchange(ready_, {})) {
    const auto found = holdings_.find(name);
    if (found == holdings_.end()) continue;
    found->second.is_ready = false;
    Holding& holding = *found->second.holding;
    if (!holding.wants_to_ask(now)) continue;
    asks.names.push_back(name);
    asks.asks.push_back(holding.ask(sharers, now));
  }
  return asks;
}

void LeaseTable::on_grant(const store::Hash128& name, const Result<store::LeaseGrant>& grant,
                          base::Deadline now, Answers& answers) {
  Holding* const holding = find(name);
  if (holding == nullptr || !holding->is_asking()) return;
  holding->on_grant(grant, now, answers);
  static_cast<void>(review(name, now));
}

bool LeaseTable::watch(const store::Hash128& name, base::Deadline until) {
  const auto found = holdings_.find(name);
  if (found == holdings_.end() || until >= found->second.watched) return false;
  found->second.watched = until;
  return true;
}

base::Deadline LeaseTable::dismiss_late(const store::Hash128& name, base::Deadline watched,
                                        base::Deadline now, Answers& answers) {
  const auto found = holdings_.find(name);
  // somebody was in a greater hurry since
  if (found == holdings_.end() || found->second.watched != watched) return base::Deadline::max();
  Holding& holding = *found->second.holding;
  holding.dismiss_late(now, answers);
  found->second.watched = holding.first_deadline();
  return found->second.watched;
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
    report.need = 0;
    report.want = 0;
    leftovers.reports.push_back(std::move(report));
  }
  return leftovers;
}

void LeaseTable::fail_all(const Error& error, Answers& answers) {
  for (auto& [hash, entry] : holdings_) entry.holding->fail(error, answers);
}

void LeaseTable::drop(const store::Hash128& name, base::Deadline now) {
  if (Holding* const holding = find(name)) holding->drop(now);
}

void LeaseTable::doubt_all() {
  for (auto& [hash, entry] : holdings_) entry.holding->doubt();
}

}  // namespace penstock::lease
