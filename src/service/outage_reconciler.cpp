#include "service/outage_reconciler.hpp"

#include "base/deadline.hpp"
#include "core/lease.hpp"
#include "service/service_deps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::service {
namespace {

// The store has a limit of its own, which is shorter.
constexpr std::chrono::seconds kStoreTimeout{1};
// A limit that others use meanwhile may have less left than it just said.
constexpr unsigned kAttempts = 3;

base::Deadline store_deadline() { return base::deadline_after(kStoreTimeout); }

}  // namespace

void OutageReconciler::tick(bool store_serves) {
  left_ = store_serves ? kPerTick : 0;
  if (in_flight_.open() == 0) send_more();
}

void OutageReconciler::send_more() {
  if (left_ == 0 || local_.ledger().is_empty()) return;
  std::vector<Entry> entries = local_.take_unreported(std::min(kMaxInFlight, left_));
  left_ -= std::min(kMaxInFlight, left_);
  in_flight_.add();
  std::vector<Entry> by_lease;
  for (Entry& entry : entries) {
    in_flight_.add();
    entry.units = std::min<std::uint64_t>(entry.units, entry.quota.capacity());
    if (leases_ != nullptr && core::can_lease(entry.quota.algorithm())) {
      by_lease.push_back(std::move(entry));
    } else {
      charge(std::move(entry), kAttempts);
    }
  }
  if (!by_lease.empty()) charge_by_lease(std::move(by_lease));
  in_flight_.finish_one();
}

void OutageReconciler::charge_by_lease(std::vector<Entry> entries) {
  std::vector<store::LeaseRequest> asks;
  asks.reserve(entries.size());
  for (const Entry& entry : entries) {
    asks.push_back({.name = entry.name,
                    .quota = entry.quota,
                    .lease = {.want = static_cast<std::uint32_t>(entry.units)}});
  }
  leases_->lease(std::move(asks), store_deadline(),
                 [this, entries = std::move(entries)](std::size_t ask,
                                                      const Result<store::LeaseGrant>& grant) {
                   if (grant) {
                     local_.ledger().count_reported(grant->granted);
                   } else {
                     on_failure(entries[ask], grant.error());
                   }
                   in_flight_.finish_one();
                 });
}

void OutageReconciler::charge(Entry entry, unsigned attempts_left) {
  std::vector<core::NamedCheck> checks{
      {.name = entry.name, .quota = entry.quota, .cost = Cost{entry.units}}};
  store_.check(std::move(checks), store_deadline(),
               [this, entry = std::move(entry),
                attempts_left](const Result<store::Decisions>& said) mutable {
                 if (!said) {
                   on_failure(entry, said.error());
                   return in_flight_.finish_one();
                 }
                 const Decision& decision = said->front();
                 if (decision.allowed()) {
                   local_.ledger().count_reported(entry.units);
                   return in_flight_.finish_one();
                 }
                 entry.units = std::min<std::uint64_t>(entry.units, decision.remaining());
                 const bool can_fit = decision.outcome() != Outcome::Blocked && entry.units > 0;
                 if (!can_fit || attempts_left == 1) return in_flight_.finish_one();
                 charge(std::move(entry), attempts_left - 1);
               });
}

void OutageReconciler::on_failure(const Entry& entry, const Error& error) {
  left_ = 0;  // not before the next tick
  if (was_not_executed(error)) {
    local_.ledger().note(entry.name, entry.quota, entry.units);
  } else {
    local_.ledger().count_lost(entry.units);
  }
}

}  // namespace penstock::service
