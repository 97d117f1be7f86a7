#include "service/debt_reporter.hpp"

#include "base/deadline.hpp"
#include "core/lease.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::service {
namespace {

// The store has a limit of its own, which is shorter.
constexpr std::chrono::seconds kPatience{1};
// A limit that others use meanwhile may have less left than it just said.
constexpr unsigned kAttempts = 3;

base::Deadline patience() { return base::deadline_after(kPatience); }

}  // namespace

void DebtReporter::tick() {
  left_ = kPerTick;
  if (under_way_ == 0) send_more();
}

void DebtReporter::send_more() {
  if (left_ == 0 || local_.ledger().is_empty() || !store_.health().serving) return;
  std::vector<Debt> debts = local_.take_debts(std::min(kAtOnce, left_));
  left_ -= std::min(kAtOnce, left_);
  under_way_ = debts.size() + 1;  // answers may come before this returns
  std::vector<Debt> by_lease;
  for (Debt& debt : debts) {
    debt.units = std::min<std::uint64_t>(debt.units, debt.quota.capacity());
    if (leases_ != nullptr && core::can_lease(debt.quota.algorithm())) {
      by_lease.push_back(std::move(debt));
    } else {
      take(std::move(debt), kAttempts);
    }
  }
  if (!by_lease.empty()) take_up_to(std::move(by_lease));
  close_one();
}

void DebtReporter::take_up_to(std::vector<Debt> debts) {
  std::vector<store::LeaseAsk> asks;
  for (const Debt& debt : debts) {
    asks.push_back({.name = debt.name,
                    .quota = debt.quota,
                    .lease = {.want = static_cast<std::uint32_t>(debt.units)}});
  }
  leases_->lease(
      std::move(asks), patience(),
      [this, debts = std::move(debts)](std::size_t ask, const Result<store::LeaseGrant>& grant) {
        if (grant) {
          local_.ledger().count_reported(grant->granted);
        } else {
          on_failure(debts[ask], grant.error());
        }
        close_one();
      });
}

void DebtReporter::take(Debt debt, unsigned attempts_left) {
  std::vector<core::NamedCheck> checks{
      {.name = debt.name, .quota = debt.quota, .cost = Cost{debt.units}}};
  store_.check(std::move(checks), patience(),
               [this, debt = std::move(debt),
                attempts_left](const Result<store::Store::Decisions>& said) mutable {
                 if (!said) {
                   on_failure(debt, said.error());
                   return close_one();
                 }
                 const Decision& decision = said->front();
                 if (decision.allowed()) {
                   local_.ledger().count_reported(debt.units);
                   return close_one();
                 }
                 debt.units = std::min<std::uint64_t>(debt.units, decision.remaining());
                 const bool can_fit = decision.outcome() != Outcome::Blocked && debt.units > 0;
                 if (!can_fit || attempts_left == 1) return close_one();
                 take(std::move(debt), attempts_left - 1);
               });
}

void DebtReporter::on_failure(const Debt& debt, const Error& error) {
  left_ = 0;  // not before the next tick
  const bool was_heard =
      error.code != ErrorCode::Unavailable && error.code != ErrorCode::Overloaded;
  if (was_heard) {
    local_.ledger().count_lost(debt.units);
  } else {
    local_.ledger().note(debt.name, debt.quota, debt.units);
  }
}

void DebtReporter::close_one() {
  if (--under_way_ == 0) send_more();
}

}  // namespace penstock::service
