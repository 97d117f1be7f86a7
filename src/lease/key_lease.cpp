#include "lease/key_lease.hpp"

#include "base/check.hpp"
#include "lease/lease_size.hpp"

#include <algorithm>
#include <limits>

namespace penstock::lease {
namespace {

// A smaller lease is not worth a call.
constexpr std::uint64_t kMinWanted = 8;
// A key with this demand is hot: when it is exhausted, requests between refills are not worth a
// call each.
constexpr std::uint64_t kWantedOfHotKey = 64;

}  // namespace

KeyLease::KeyLease(core::LimitKey name, const Quota& quota, const core::SharingTerms& terms,
                   base::Deadline now, const WasteLimit& waste)
    : name_(std::move(name)),
      quota_(quota),
      terms_(terms),
      waste_(waste),
      size_(terms.lifetime, now),
      last_decision_(Decision::allow(quota.capacity(), quota.capacity(), Duration{0})),
      received_at_(now),
      used_at_(now) {
  credit_ = waste_.allowance * waste_share();
}

std::uint64_t KeyLease::waste_share() const noexcept {
  if (is_strict()) return waste_.returned;
  return terms_.mode == core::Mode::LeaseStrict ? waste_.strict : waste_.plain;
}

void KeyLease::admit(std::uint64_t units, base::Deadline now) {
  size_.note_admitted(units, now);
  credit_ += units;
  used_at_ = now;
}

void KeyLease::waste(std::uint64_t units) { credit_ -= std::min(credit_, units * waste_share()); }

void KeyLease::note_admitted(Cost cost, const Decision& said, base::Deadline asked,
                             base::Deadline now) {
  admit(cost.units, now);
  size_.note_answer(now - asked);
  last_decision_ = said;
  received_at_ = now;
  if (quota_.algorithm() == Algorithm::AnchoredWindow) window_ends_ = now + said.reset_after();
}

std::optional<Decision> KeyLease::take(Cost cost, base::Deadline now) {
  used_at_ = now;
  // waiting requests came first
  if (waiting_.empty() && spend(cost.units, now)) {
    admit(cost.units, now);
    return snapshot(now);
  }
  if (is_asking_ && cost.units <= quota_.capacity()) return std::nullopt;
  end_leases(now);
  return certain_denial(cost, now);
}

bool KeyLease::covers(Cost cost, base::Deadline now) const {
  if (!waiting_.empty() || units_ < cost.units) return false;
  std::uint64_t units = 0;
  for (const Lease& lease : leases_) {
    if (lease.ends > now) units += lease.units;
  }
  return units >= cost.units;
}

std::optional<Decision> KeyLease::certain_denial(Cost cost, base::Deadline now) const {
  if (is_drained_ && now < ask_after_ && !is_asking_ && shortfall(cost) > 0) {
    return paced(cost, now);
  }
  if (!is_strict()) return std::nullopt;  // the store decides, and the denial cache repeats it
  if (cost.units > quota_.capacity()) {
    return Decision::never_fits(quota_.capacity(), snapshot(now).remaining(),
                                snapshot(now).reset_after());
  }
  if (is_asking_ || !denial_ || shortfall(cost) == 0) return std::nullopt;
  std::optional<Decision> refused = denial_->repeat(quota_, Cost{shortfall(cost)}, now);
  if (refused) return refused;
  if (now < ask_after_) return paced(cost, now);
  return std::nullopt;
}

// Units are available again, but too few to request yet.
Decision KeyLease::paced(Cost cost, base::Deadline now) const {
  const auto wait = std::chrono::ceil<Duration>(ask_after_ - now);
  const auto remaining =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(units_, cost.units - 1));
  return Decision::deny(quota_.capacity(), remaining, std::max(snapshot(now).reset_after(), wait),
                        wait);
}

void KeyLease::wait(Waiter& waiting, Cost cost, Use use, base::Deadline deadline) {
  PENSTOCK_DCHECK(is_strict());
  waiting_.push_back({.waiting = &waiting, .cost = cost, .deadline = deadline, .use = use});
  first_deadline_ = std::min(first_deadline_, deadline);
}

bool KeyLease::spend(std::uint64_t units, base::Deadline now) {
  if (units_ < units) return false;
  if (leases_.front().ends <= now) {
    end_leases(now);
    if (units_ < units) return false;
  }
  units_ -= static_cast<std::uint32_t>(units);
  taken_ = {.is_leased = true};
  const std::uint64_t whole = units;
  for (std::size_t i = 0; units > 0; ++i) {
    Lease& lease = leases_[i];
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(units, lease.units));
    if (part == whole) taken_ = {.lease = lease.number, .asks = asks_, .is_leased = true};
    lease.units -= part;
    lease.spent += part;
    units -= part;
  }
  return true;
}

void KeyLease::end_leases(base::Deadline now) {
  const auto is_over = [&](const Lease& lease) {
    if (lease.ends > now) return false;
    report({.epoch = lease.epoch, .spent = lease.spent, .returned = lease.units}, lease.ends);
    waste(lease.units);
    units_ -= lease.units;
    return true;
  };
  leases_.erase(std::remove_if(leases_.begin(), leases_.end(), is_over), leases_.end());
  // after a clock was set back, an expired epoch may recur for leases of other holders
  if (now - reported_at_ > 2 * terms_.lifetime) reports_.clear();
}

void KeyLease::report(const store::LeaseReport& news, base::Deadline since) {
  if (!is_strict() || (news.spent == 0 && news.returned == 0)) return;
  reported_at_ = std::max(reported_at_, since);
  for (store::LeaseReport& known : reports_) {
    if (known.epoch != news.epoch) continue;
    known.spent += news.spent;
    known.returned += news.returned;
    return;
  }
  reports_.push_back(news);
  // the store accounts for two epochs: older ones are settled
  if (reports_.size() > 2) {
    reports_.erase(
        std::min_element(reports_.begin(), reports_.end(),
                         [](const auto& a, const auto& b) { return a.epoch < b.epoch; }));
  }
}

void KeyLease::put_back(Cost cost, const TakenUnits& taken, base::Deadline now) {
  end_leases(now);
  if (taken.lease == 0 || taken.asks != asks_) return;  // from several leases, or reported already
  const auto lease = std::find_if(leases_.begin(), leases_.end(),
                                  [&](const Lease& each) { return each.number == taken.lease; });
  if (lease == leases_.end()) return;
  lease->spent -= static_cast<std::uint32_t>(cost.units);
  lease->units += static_cast<std::uint32_t>(cost.units);
  units_ += static_cast<std::uint32_t>(cost.units);
  credit_ -= std::min(credit_, cost.units);
}

std::uint64_t KeyLease::shortfall(Cost cost) const {
  const std::uint64_t units = std::max<std::uint64_t>(cost.units, 1);
  return units - std::min<std::uint64_t>(units, units_);
}

// How long units granted now will count, as far as this node knows: units unspent at the end of
// their window are lost.
base::Deadline::duration KeyLease::counts_for(base::Deadline now) const {
  if (quota_.is_bucket()) return base::Deadline::duration::max();
  // a request starts an anchored window: a lease must not
  if (quota_.algorithm() == Algorithm::AnchoredWindow) {
    return std::max(window_ends_ - now - size_.ahead(), base::Deadline::duration{0});
  }
  if (now < window_ends_) return window_ends_ - now;
  const Duration window = core::lease_window(quota_);
  return window - (now - window_ends_) % window;
}

Decision KeyLease::snapshot(base::Deadline now) const {
  const auto remaining = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      std::uint64_t{last_decision_.remaining()} + units_, quota_.capacity()));
  const Duration passed = std::chrono::floor<Duration>(now - received_at_);
  return Decision::allow(quota_.capacity(), remaining,
                         std::max(last_decision_.reset_after() - passed, Duration{0}));
}

std::uint64_t KeyLease::wanted(base::Deadline now) const {
  const std::uint64_t budget = credit_ / waste_share();
  if (budget <= units_) return 0;
  // the bucket refills leased units only after it learns that they were spent
  if (is_strict() && Duration{quota_.fill_time().whole} < 4 * size_.ahead()) return 0;
  std::uint64_t lasting = 0;
  for (const Lease& lease : leases_) {
    if (lease.ends - now > size_.ahead()) lasting += lease.units;
  }
  const std::uint64_t want = size_.want(now, counts_for(now));
  if (want <= lasting) return 0;
  const std::uint64_t units = std::min(want - lasting, budget - units_);
  // a lease that is spent long before the next answer saves nothing
  return units < std::max(size_.low_water(now) / 8, kMinWanted) ? 0 : units;
}

bool KeyLease::needs_refill(base::Deadline now) const {
  if (is_asking_) return false;
  if (!waiting_.empty()) return true;
  if (now < ask_after_) return false;
  if (!reports_.empty()) return true;
  const bool runs_out = units_ <= low_water_ || leases_.back().ends - now < size_.ahead();
  if (!runs_out || wanted(now) == 0) return false;
  return !denial_ || !denial_->repeat(quota_, Cost{1}, now);
}

base::Deadline KeyLease::next_wakeup() const {
  base::Deadline at = waiting_.empty() ? base::Deadline::max() : first_deadline_;
  if (!is_strict() || is_asking_) return at;
  if (!reports_.empty()) at = std::min(at, ask_after_);
  for (const Lease& lease : leases_) at = std::min(at, lease.ends);
  return at;
}

// The store decides the first requests of equal cost, unless the first of them is revocable: its
// units, and those of all later ones, have to be a lease.
void KeyLease::ask_for_waiting(store::LeaseRequest& ask) {
  if (waiting_.empty()) return;
  const WaitEntry& first = waiting_.front();
  // changed terms may have made it a plain lease, which decides no requests
  const bool is_decided = first.use == Use::Final && is_strict();
  std::uint64_t due = 0;
  for (WaitEntry& waiter : waiting_) {
    if (is_decided && due == 0 && waiter.use == Use::Final &&
        waiter.cost.units == first.cost.units) {
      waiter.is_asked = true;
      ++ask.count;
    } else {
      due += waiter.cost.units;
    }
  }
  if (is_decided) ask.cost = static_cast<std::uint32_t>(first.cost.units);
  if (!is_decided) ask.lease.need = static_cast<std::uint32_t>(shortfall(first.cost));
  ask.lease.due = static_cast<std::uint32_t>(std::min<std::uint64_t>(due, quota_.capacity()));
}

store::LeaseRequest KeyLease::ask(std::uint32_t sharers, base::Deadline now) {
  end_leases(now);
  for (Lease& lease : leases_) {
    report({.epoch = lease.epoch, .spent = std::exchange(lease.spent, 0)}, now);
  }
  std::erase_if(leases_, [](const Lease& lease) { return lease.units == 0; });
  reports_in_flight_ = std::exchange(reports_, {});
  is_asking_ = true;
  asked_at_ = now;
  ++asks_;
  low_water_ = size_.low_water(now);
  // waste is bounded by current admissions, not by earlier ones
  credit_ = std::min(credit_, 2 * size_.want(now, base::Deadline::duration::max()) * waste_share() +
                                  waste_.allowance * waste_share());
  store::LeaseRequest ask{.name = name_,
                          .quota = quota_,
                          .lease = {.sharers = std::max(sharers, 1U)},
                          .strict_lifetime = std::nullopt,
                          .reports = reports_in_flight_};
  ask_for_waiting(ask);
  needed_ = ask.lease.need;
  wanted_ = wanted(now);
  ask.lease.want = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(wanted_ + ask.lease.due, quota_.capacity()));
  if (is_strict()) ask.strict_lifetime = terms_.lifetime;
  return ask;
}

void KeyLease::on_grant(const Result<store::LeaseGrant>& grant, base::Deadline now,
                        WaiterAnswers& answers) {
  PENSTOCK_CHECK(is_asking_);
  is_asking_ = false;
  end_leases(now);
  const std::vector<store::LeaseReport> told = std::exchange(reports_in_flight_, {});
  const bool is_outdated = std::exchange(is_outdated_, false);
  const bool is_stale = std::exchange(is_stale_, false);
  if (grant) {
    size_.note_answer(now - asked_at_);
    if (is_outdated) {
      // requests that wait for a lease are requested again
      report({.epoch = grant->epoch, .returned = grant->granted}, now);
      answer_asked(*grant, now, answers);
    } else {
      const bool is_late = apply_grant(*grant, is_stale, now);
      answer_asked(*grant, now, answers);
      serve(*grant, now, answers);
      if (is_late && needed_ > 0) {
        fail({ErrorCode::Timeout, "a lease expired before it arrived: lease_lifetime is too short"},
             answers);
      }
    }
    return expire_waiters(now, answers);
  }
  ask_after_ = std::max(ask_after_, now + size_.pause());  // do not retry a failed call at once
  const ErrorCode code = grant.error().code;
  if (code == ErrorCode::Unavailable || code == ErrorCode::Overloaded) {
    // they were not delivered
    for (const store::LeaseReport& each : told) report(each, {});  // their age is unchanged
  }
  fail(grant.error(), answers);
}

void KeyLease::fail(const Error& error, WaiterAnswers& answers) {
  for (const WaitEntry& waiter : waiting_) {
    answers.push_back({.waiting = waiter.waiting, .decision = error});
  }
  waiting_.clear();
}

void KeyLease::expire_waiters(base::Deadline now, WaiterAnswers& answers) {
  static const Error late_error{ErrorCode::Timeout, "no lease arrived in time"};
  std::erase_if(waiting_, [&](const WaitEntry& waiter) {
    if (waiter.deadline > now) return false;
    answers.push_back({.waiting = waiter.waiting, .decision = late_error});
    return true;
  });
  first_deadline_ = base::Deadline::max();
  for (const WaitEntry& waiter : waiting_) {
    first_deadline_ = std::min(first_deadline_, waiter.deadline);
  }
}

void KeyLease::mark_stale() {
  denial_.reset();
  is_drained_ = false;
  ask_after_ = {};
  is_stale_ = is_asking_;
}

void KeyLease::pace() {
  ask_after_ = asked_at_ + size_.pause();
  if (!quota_.is_bucket()) return;
  // a small bucket fills up before that and would waste later units
  ask_after_ =
      std::min<base::Deadline>(ask_after_, asked_at_ + Duration{quota_.fill_time().whole / 2});
}

bool KeyLease::apply_grant(const store::LeaseGrant& grant, bool is_stale, base::Deadline now) {
  last_decision_ = grant.afterwards;
  received_at_ = now;
  denial_.reset();
  if (!last_decision_.allowed() && !is_stale) {
    const Cost refused = grant.denied_cost;
    denial_.emplace(quota_, refused, last_decision_, asked_at_, now);
    pace();
  }
  is_drained_ = quota_.is_bucket() && !is_stale && wanted_ >= kWantedOfHotKey &&
                grant.granted < wanted_ / 2 && last_decision_.remaining() < wanted_ / 2;
  if (is_drained_) pace();
  // holders share too few units to lease: the next request would return the same
  if (last_decision_.allowed() && grant.granted == 0) {
    ask_after_ = std::max<base::Deadline>(ask_after_, asked_at_ + terms_.lifetime / 4);
  }
  window_ends_ = asked_at_;  // a bucket has none
  if (!quota_.is_bucket()) window_ends_ += std::min(grant.counts_for, quota_.period());
  if (grant.granted == 0) return false;
  base::Deadline::duration lasts = at_least(std::min(terms_.lifetime, grant.counts_for));
  // unspent units are returned while the store still accounts for them
  if (is_strict()) lasts -= std::min<base::Deadline::duration>(size_.ahead(), lasts / 4);
  const Lease lease{.units = grant.granted,
                    .spent = 0,
                    .ends = asked_at_ + lasts,
                    .counts_until = window_ends_,
                    .epoch = grant.epoch,
                    .number = ++leases_received_};
  units_ += lease.units;
  leases_.push_back(lease);
  end_leases(now);
  return lease.ends <= now;
}

void KeyLease::answer_asked(const store::LeaseGrant& grant, base::Deadline now,
                            WaiterAnswers& answers) {
  std::uint64_t left = grant.admitted;
  std::erase_if(waiting_, [&](WaitEntry& waiter) {
    if (!waiter.is_asked) return false;
    if (left == 0 && grant.afterwards.allowed()) {
      waiter.is_asked = false;  // not denied: it is requested again
      return false;
    }
    if (left == 0) {
      answers.push_back({.waiting = waiter.waiting, .decision = grant.afterwards});
      return true;
    }
    --left;
    admit(waiter.cost.units, now);
    const std::uint64_t remaining =
        std::uint64_t{grant.afterwards.remaining()} + units_ + left * waiter.cost.units;
    answers.push_back(
        {.waiting = waiter.waiting,
         .decision = Decision::allow(
             quota_.capacity(),
             static_cast<std::uint32_t>(std::min<std::uint64_t>(remaining, quota_.capacity())),
             grant.afterwards.reset_after())});
    return true;
  });
}

// The request that a lease was needed for is decided; the others keep waiting when their outcome is
// unknown.
void KeyLease::serve(const store::LeaseGrant& grant, base::Deadline now, WaiterAnswers& answers) {
  bool is_first = needed_ > 0;
  while (!waiting_.empty()) {
    const WaitEntry waiter = waiting_.front();
    std::optional<Decision> said;
    taken_ = {};
    if (units_ >= waiter.cost.units && spend(waiter.cost.units, now)) {
      admit(waiter.cost.units, now);
      said = snapshot(now);
    } else if (is_first && grant.granted == 0 && !grant.afterwards.allowed() &&
               needed_ == shortfall(waiter.cost)) {
      said = grant.afterwards;
    } else {
      said = certain_denial(waiter.cost, now);
    }
    if (!said) return;
    answers.push_back({.waiting = waiter.waiting, .decision = *said, .taken = taken_});
    waiting_.pop_front();
    is_first = false;
  }
}

void KeyLease::drop(base::Deadline now) {
  for (Lease& lease : leases_) lease.ends = std::min(lease.ends, now);
  end_leases(now);
  denial_.reset();
  is_drained_ = false;
  ask_after_ = {};
  is_outdated_ = is_asking_;
}

void KeyLease::adopt(const Quota& quota, const core::SharingTerms& terms, base::Deadline now) {
  if (quota == quota_ && terms == terms_) return;
  drop(now);
  if (!quota.is_bucket() || terms.mode != core::Mode::LeaseStrict) reports_.clear();
  quota_ = quota;
  terms_ = terms;
  size_.change_lifetime(terms.lifetime);
}

std::uint32_t KeyLease::returnable(base::Deadline now) {
  end_leases(now);
  std::uint32_t units = 0;
  for (const Lease& lease : leases_) {
    if (lease.counts_until - now > at_most(kReportTimeout)) units += lease.units;
  }
  return units;
}

std::uint32_t KeyLease::in_hand(base::Deadline now) {
  end_leases(now);
  return units_;
}

bool KeyLease::has_reports() const {
  return !reports_.empty() || std::any_of(leases_.begin(), leases_.end(),
                                          [](const Lease& lease) { return lease.spent > 0; });
}

bool KeyLease::is_idle(base::Deadline now) const {
  if (is_asking_ || !waiting_.empty()) return false;
  return now - used_at_ > 2 * terms_.lifetime &&
         std::all_of(leases_.begin(), leases_.end(),
                     [&](const Lease& lease) { return lease.ends <= now; });
}

}  // namespace penstock::lease
