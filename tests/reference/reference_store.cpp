#include "reference/reference_store.hpp"

namespace penstock::reference {

Decision ReferenceStore::check(std::string_view key, const Quota& quota, Cost cost, Instant now) {
  see(now);
  const auto found = entries_.find(key);
  Entry entry = found == entries_.end() ? Entry{.quota = quota, .state = {}} : found->second;
  const Decision decision = core::decide_under(entry.state, entry.quota, quota, cost, latest_);
  if (cost.units > 0 && decision.allowed()) {
    entries_.insert_or_assign(std::string(key), std::move(entry));
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
  const auto found = entries_.find(key);
  if (cost.units > 0 && found != entries_.end()) {
    core::refund(found->second.state, found->second.quota, cost, latest_);
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
