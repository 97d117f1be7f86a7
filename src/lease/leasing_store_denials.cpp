// The denial cache part of LeasingStore: caches answers of the shared store and repeats them.
#include "lease/leasing_store.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::lease {
namespace {

// Longer requests are not cached.
constexpr std::size_t kMaxCached = 64;

bool has_room(const Decision& shown, Cost cost) {
  return shown.allowed() && shown.remaining() >= std::max<std::uint64_t>(cost.units, 1);
}

// Whether a failed call may have charged the store.
bool may_have_charged(const Error& error) {
  return error.code != ErrorCode::Unavailable && error.code != ErrorCode::Overloaded;
}

}  // namespace

std::optional<Decision> LeasingStore::certain_denial(const store::Hash128& hash,
                                                     const core::NamedCheck& check,
                                                     base::Deadline now) {
  if (check.terms.mode == core::Mode::Local || check.cost.units == 0) return std::nullopt;
  if (const KeyLease* const key_lease = find_lease(hash, check, now)) {
    if (key_lease->covers(check.cost, now)) return std::nullopt;
    const std::optional<Decision> said = key_lease->certain_denial(check.cost, now);
    if (said || key_lease->is_strict()) return said;
  }
  return denials_.certain_denial(hash, check.quota, check.cost, now, versions_->of(hash));
}

std::optional<Decision> LeasingStore::snapshot(const store::Hash128& hash,
                                               const core::NamedCheck& check, base::Deadline now) {
  std::optional<Decision> shown;
  const KeyLease* const key_lease = find_lease(hash, check, now);
  if (check.terms.mode == core::Mode::Local) {
    core::NamedCheck look = node_share(check);
    look.cost = Cost{0};
    shown = dependencies_.memory.check(look);
  } else if (key_lease != nullptr &&
             (key_lease->is_strict() || key_lease->covers(check.cost, now))) {
    shown = key_lease->snapshot(now);
  } else {
    return denials_.snapshot(hash, check.quota, check.cost, now, versions_->of(hash));
  }
  return has_room(*shown, check.cost) ? shown : std::nullopt;
}

bool LeasingStore::repeat_denial(std::span<const core::NamedCheck* const> checks,
                                 std::span<const store::Hash128> hashes,
                                 std::span<Decision> decisions, base::Deadline now) {
  std::array<bool, kInlineLimits> refused{};
  bool any = false;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const std::optional<Decision> said = certain_denial(hashes[i], *checks[i], now);
    if (!said) continue;
    decisions[i] = *said;
    refused.at(i) = true;
    any = true;
  }
  if (!any) return false;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (refused.at(i)) continue;
    const std::optional<Decision> shown = snapshot(hashes[i], *checks[i], now);
    if (!shown) return false;
    decisions[i] = *shown;
  }
  ++stats_.decided_by_denial;
  return true;
}

std::vector<LeasingStore::AskedLimit> LeasingStore::asked_limits(
    std::span<const core::NamedCheck> checks) const {
  std::vector<AskedLimit> asked;
  asked.reserve(checks.size());
  for (const core::NamedCheck& check : checks) {
    const store::Hash128 hash = hash_of(check.name);
    asked.push_back({.hash = hash,
                     .quota = check.quota,
                     .cost = check.cost,
                     .version = versions_->of(hash),
                     .is_leased = check.terms.mode != core::Mode::Exact});
  }
  if (asked.size() > kMaxCached) return asked;
  for (AskedLimit& each : asked) {
    each.is_alone = std::count_if(asked.begin(), asked.end(), [&](const AskedLimit& other) {
                      return other.hash == each.hash;
                    }) == 1;
  }
  return asked;
}

void LeasingStore::ask_shared(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                              Answered<Decisions> answered, Remember remember) {
  AskedCall call{.limits = asked_limits(checks), .gaps = gaps_, .at = base::monotonic_now()};
  shared_.check(std::move(checks), deadline,
                [this, call = std::move(call), remember,
                 answered = std::move(answered)](Result<Decisions> said) {
                  if (said) {
                    note_answer(call, *said, remember);
                  } else if (may_have_charged(said.error())) {
                    for (const AskedLimit& limit : call.limits) versions_->advance(limit.hash);
                  }
                  answered(std::move(said));
                });
}

// A charge advances the version for all workers. Here the answer replaces the cached one, unless
// another charge was recorded since the call was sent: their order is unknown.
void LeasingStore::note_answer(const AskedCall& call, const Decisions& said, Remember remember) {
  const bool admitted =
      std::all_of(said.begin(), said.end(), [](const Decision& each) { return each.allowed(); });
  const bool may_note = gaps_ == call.gaps && call.limits.size() <= kMaxCached &&
                        (!admitted || remember == Remember::Always);
  const base::Deadline heard = base::monotonic_now();
  for (std::size_t i = 0; i < call.limits.size(); ++i) {
    const AskedLimit& limit = call.limits[i];
    if (admitted && limit.cost.units > 0) {
      if (limit.is_leased) note_admitted(limit.hash, limit.quota, limit.cost, said[i], call.at);
      const std::uint32_t before = versions_->advance(limit.hash);
      if (before != limit.version || gaps_ != call.gaps) continue;
      denials_.update(limit.hash, {limit.quota, limit.cost, said[i], call.at, heard}, before + 1);
    } else if (may_note && limit.is_alone && versions_->of(limit.hash) == limit.version) {
      denials_.note(limit.hash, limit.quota, limit.cost, said[i], call.at, heard, limit.version);
    }
  }
}

void LeasingStore::note_charge(const store::Hash128& hash, const Result<store::LeaseGrant>& grant) {
  if (grant ? grant->granted > 0 || grant->admitted > 0 : may_have_charged(grant.error())) {
    versions_->advance(hash);
  }
}

void LeasingStore::lease(std::vector<store::LeaseRequest> asks, base::Deadline deadline,
                         OnGrant on_grant) {
  std::vector<store::Hash128> hashes;
  hashes.reserve(asks.size());
  for (const store::LeaseRequest& ask : asks) hashes.push_back(hash_of(ask.name));
  dependencies_.leases.lease(std::move(asks), deadline,
                             [this, hashes = std::move(hashes), on_grant = std::move(on_grant)](
                                 std::size_t ask, const Result<store::LeaseGrant>& grant) {
                               note_charge(hashes[ask], grant);
                               on_grant(ask, grant);
                             });
}

}  // namespace penstock::lease
