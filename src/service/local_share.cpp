#include "service/local_share.hpp"

#include "core/share.hpp"

#include <algorithm>

namespace penstock::service {
namespace {

std::uint32_t used_of(const Decision& said) noexcept { return said.limit() - said.remaining(); }

bool all_allow(const std::vector<Decision>& decisions) noexcept {
  return std::all_of(decisions.begin(), decisions.end(),
                     [](const Decision& each) { return each.allowed(); });
}

}  // namespace

std::vector<Decision> LocalShare::decide(std::span<const core::NamedCheck> checks) {
  std::vector<Decision> decisions(checks.size());
  if (recall_ == Recall::Nothing) {
    memory_.check_all(checks, decisions);
    return decisions;
  }
  std::vector<Decision> recalled(checks.size());
  recalled_.check_all(checks, recalled);
  if (!all_allow(recalled)) return recalled;
  memory_.check_all(checks, decisions);
  if (!all_allow(decisions)) {
    std::vector<Decision> ignored(checks.size());
    recalled_.refund(checks, ignored);
    return decisions;
  }
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (recalled[i].remaining() < decisions[i].remaining()) decisions[i] = recalled[i];
  }
  return decisions;
}

std::vector<Decision> LocalShare::check(std::vector<core::NamedCheck> checks) {
  std::vector<Quota> whole;
  for (core::NamedCheck& each : checks) {
    whole.push_back(each.quota);
    each.quota = share_of(each.quota);
  }
  std::vector<Decision> decisions = decide(checks);
  if (!all_allow(decisions) || recall_ == Recall::Nothing) return decisions;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].cost.units == 0 || !is_worth_telling(whole[i])) continue;
    ledger_.note(checks[i].name, whole[i], checks[i].cost.units);
  }
  return decisions;
}

void LocalShare::undo(std::vector<core::NamedCheck> checks) {
  for (core::NamedCheck& each : checks) {
    ledger_.strike(each.name, each.cost.units);
    each.quota = share_of(each.quota);
  }
  std::vector<Decision> ignored(checks.size());
  memory_.refund(checks, ignored);
  if (recall_ == Recall::WhatTheStoreSaid) recalled_.refund(checks, ignored);
}

void LocalShare::forget(const core::CountName& name, Change change) noexcept {
  if (change == Change::ByHand) {
    changes_.fetch_add(1, std::memory_order_acq_rel);
    memory_.reset(name);
  }
  recalled_.reset(name);
  recalled_.block(name, Duration{0});
}

void LocalShare::forget_recalled() noexcept {
  changes_.fetch_add(1, std::memory_order_acq_rel);
  recalled_.clear();
}

void LocalShare::keep(const core::NamedCheck& check, const Decision& said) noexcept {
  if (check.terms.mode == core::Mode::Local) return;  // nobody else counts it
  if (said.outcome() == Outcome::Blocked) {
    static_cast<void>(recalled_.block(check.name, said.retry_after().value_or(Duration{0})));
    return;
  }
  const std::uint32_t used = used_of(said);
  const unsigned nodes = members_.nodes();
  // rounded up, which favours what is protected
  recalled_.raise_used(check.name, core::share_of(check.quota, nodes),
                       used / nodes + (used % nodes == 0 ? 0 : 1));
}

bool LocalShare::is_worth_telling(const Quota& quota) noexcept {
  return (quota.is_bucket() ? core::ceil_micros(quota.fill_time()) : quota.period()) >=
         kWorthTelling;
}

std::vector<OutageLedger::Entry> LocalShare::take_debts(std::size_t most) {
  std::vector<OutageLedger::Entry> debts = ledger_.take(most);
  for (OutageLedger::Entry& debt : debts) {
    // Under the whole quota, which all usage fits: it may be more than this node's share is by now.
    const Decision now =
        memory_.check(core::NamedCheck{.name = debt.name, .quota = debt.quota, .cost = Cost{0}});
    if (now.outcome() == Outcome::Blocked) continue;
    debt.units = std::min<std::uint64_t>(debt.units, used_of(now));
  }
  std::erase_if(debts, [](const OutageLedger::Entry& debt) { return debt.units == 0; });
  return debts;
}

Quota LocalShare::share_of(const Quota& quota) const {
  return core::share_of(quota, members_.nodes());
}

}  // namespace penstock::service
