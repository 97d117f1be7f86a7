#include "reference/reference_store.hpp"

namespace penstock::reference {

core::AnyState ReferenceStore::state_under(std::string_view key, const Quota& quota) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  return entry.quota == quota ? entry.state
                              : core::carry_over(entry.state, entry.quota, quota, latest_);
}

Decision ReferenceStore::check(std::string_view key, const Quota& quota, Cost cost, Instant now) {
  see(now);
  core::AnyState state = state_under(key, quota);
  const Decision decision = core::decide(state, quota, cost, latest_);
  // a refused charge under another quota still makes that the key's quota
  if (cost.units > 0 && (decision.allowed() || entries_.contains(key))) {
    entries_.insert_or_assign(std::string(key), Entry{.quota = quota, .state = std::move(state)});
  }
  return decision;
}

bool ReferenceStore::check_all(std::span<const Check> checks, Instant now) {
  const Entries before = entries_;
  for (const Check& each : checks) {
    if (check(each.key, each.quota, each.cost, now).allowed()) continue;
    entries_ = before;
    return false;
  }
  return true;
}

Decision ReferenceStore::refund(std::string_view key, const Quota& quota, Cost cost, Instant now) {
  see(now);
  core::AnyState state = state_under(key, quota);
  if (cost.units > 0 && entries_.contains(key)) {
    core::refund(state, quota, cost, latest_);
    entries_.insert_or_assign(std::string(key), Entry{.quota = quota, .state = std::move(state)});
  }
  return check(key, quota, Cost{0}, now);
}

bool ReferenceStore::reset(std::string_view key, Instant now) {
  see(now);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  const bool used_something = core::used(found->second.state, found->second.quota, latest_) > 0;
  entries_.erase(found);
  return used_something;
}

}  // namespace penstock::reference
