#include "service/local_fallback.hpp"

#include "core/quota_math.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

std::uint32_t used_of(const Decision& said) noexcept { return said.limit() - said.remaining(); }

bool all_allow(const std::vector<Decision>& decisions) noexcept {
  return std::all_of(decisions.begin(), decisions.end(),
                     [](const Decision& each) { return each.allowed(); });
}

}  // namespace

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

std::vector<Decision> LocalFallback::decide(std::span<const core::NamedCheck> checks) {
  std::vector<Decision> decisions(checks.size());
  if (recall_ == Recall::Nothing) {
    memory_.check_all(checks, decisions);
    return decisions;
  }
  std::vector<Decision> recalled(checks.size());
  store_state_.check_all(checks, recalled);
  if (!all_allow(recalled)) return recalled;
  memory_.check_all(checks, decisions);
  if (!all_allow(decisions)) {
    std::vector<Decision> ignored(checks.size());
    store_state_.refund(checks, ignored);
    return decisions;
  }
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (recalled[i].remaining() < decisions[i].remaining()) decisions[i] = recalled[i];
  }
  return decisions;
}

std::vector<Decision> LocalFallback::check(std::vector<core::NamedCheck> checks) {
  std::vector<Quota> whole;
  for (core::NamedCheck& each : checks) {
    whole.push_back(each.quota);
    each.quota = share_of(each.quota);
  }
  std::vector<Decision> decisions = decide(checks);
  if (!all_allow(decisions) || recall_ == Recall::Nothing) return decisions;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].cost.units == 0 || !needs_reconciliation(whole[i])) continue;
    ledger_.note(checks[i].name, whole[i], checks[i].cost.units);
  }
  return decisions;
}

void LocalFallback::undo(std::vector<core::NamedCheck> checks) {
  for (core::NamedCheck& each : checks) {
    ledger_.remove(each.name, each.cost.units);
    each.quota = share_of(each.quota);
  }
  std::vector<Decision> ignored(checks.size());
  memory_.refund(checks, ignored);
  if (recall_ == Recall::StoreState) store_state_.refund(checks, ignored);
}

void LocalFallback::forget(const core::LimitKey& name, Change change) noexcept {
  if (change == Change::Manual) {
    changes_.fetch_add(1, std::memory_order_acq_rel);
    memory_.reset(name);
  }
  store_state_.reset(name);
  store_state_.block(name, Duration{0});
}

void LocalFallback::forget_store_state() noexcept {
  changes_.fetch_add(1, std::memory_order_acq_rel);
  store_state_.clear();
}

void LocalFallback::keep(const core::NamedCheck& check, const Decision& said) noexcept {
  if (check.terms.mode == core::Mode::Local) return;  // not in the shared store
  if (said.outcome() == Outcome::Blocked) {
    static_cast<void>(store_state_.block(check.name, said.retry_after().value_or(Duration{0})));
    return;
  }
  const std::uint32_t used = used_of(said);
  const unsigned nodes = members_.nodes();
  // rounded up, which favours what is protected
  store_state_.raise_used(check.name, core::share_of(check.quota, nodes),
                          used / nodes + (used % nodes == 0 ? 0 : 1));
}

bool LocalFallback::needs_reconciliation(const Quota& quota) noexcept {
  return (quota.is_bucket() ? core::ceil_micros(quota.fill_time()) : quota.period()) >=
         kMinReconciledWindow;
}

std::vector<OutageLedger::Entry> LocalFallback::take_unreported(std::size_t most) {
  std::vector<OutageLedger::Entry> entries = ledger_.take(most);
  for (OutageLedger::Entry& entry : entries) {
    // Under the whole quota, which all usage fits: it may be more than this node's share is by now.
    const Decision now =
        memory_.check(core::NamedCheck{.name = entry.name, .quota = entry.quota, .cost = Cost{0}});
    if (now.outcome() == Outcome::Blocked) continue;
    entry.units = std::min<std::uint64_t>(entry.units, used_of(now));
  }
  std::erase_if(entries, [](const OutageLedger::Entry& entry) { return entry.units == 0; });
  return entries;
}

Quota LocalFallback::share_of(const Quota& quota) const {
  return core::share_of(quota, members_.nodes());
}

}  // namespace penstock::service
