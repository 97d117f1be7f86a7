#include "service/outage_ledger.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {

void OutageLedger::note(const core::LimitKey& name, const Quota& quota, std::uint64_t units) {
  const std::lock_guard guard(mutex_);
  const auto found = records_.find(name);
  if (found != records_.end()) {
    // of several quotas the loosest: it has room for what was admitted under all of them
    if (quota.capacity() >= found->second.quota.capacity()) found->second.quota = quota;
    found->second.units += units;
    return;
  }
  if (records_.size() >= max_names_) return count_lost(units);
  records_.emplace(name, Record{.quota = quota, .units = units});
  names_.store(records_.size(), std::memory_order_relaxed);
}

void OutageLedger::remove(const core::LimitKey& name, std::uint64_t units) {
  const std::lock_guard guard(mutex_);
  const auto found = records_.find(name);
  if (found == records_.end()) return;
  found->second.units -= std::min(found->second.units, units);
  if (found->second.units == 0) records_.erase(found);
  names_.store(records_.size(), std::memory_order_relaxed);
}

std::vector<OutageLedger::Entry> OutageLedger::take(std::size_t most) {
  std::vector<Entry> taken;
  if (is_empty()) return taken;
  const std::lock_guard guard(mutex_);
  while (taken.size() < most && !records_.empty()) {
    auto node = records_.extract(records_.begin());
    taken.push_back({.name = std::move(node.key()),
                     .quota = node.mapped().quota,
                     .units = node.mapped().units});
  }
  names_.store(records_.size(), std::memory_order_relaxed);
  return taken;
}

void OutageLedger::count_reported(std::uint64_t units) noexcept {
  reported_.fetch_add(units, std::memory_order_relaxed);
}

void OutageLedger::count_lost(std::uint64_t units) noexcept {
  lost_.fetch_add(units, std::memory_order_relaxed);
}

OutageLedger::Totals OutageLedger::totals() const noexcept {
  return {.names = names_.load(std::memory_order_relaxed),
          .reported = reported_.load(std::memory_order_relaxed),
          .lost = lost_.load(std::memory_order_relaxed)};
}

}  // namespace penstock::service
