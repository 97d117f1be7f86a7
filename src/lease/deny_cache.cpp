#include "lease/deny_cache.hpp"

#include <algorithm>

namespace penstock::lease {

void DenyCache::note(const store::Hash128& name, const Quota& quota, Cost cost,
                     const Decision& said, base::Deadline asked, base::Deadline heard) {
  const Known known{.denial = Denial(quota, cost, said, asked, heard),
                    .quota = quota.identity(),
                    .said = said,
                    .heard = heard};
  const auto [place, is_new] = known_.try_emplace(name, known);
  if (!is_new) {
    place->second = known;
    return;
  }
  order_.push_back(name);
  make_room(heard);
}

// Looks at two for one that came, so that it shrinks without a timer.
void DenyCache::make_room(base::Deadline now) {
  for (int looked = 0; looked < 2 && order_.size() > 1; ++looked) {
    const store::Hash128 name = order_.front();
    order_.pop_front();
    const auto oldest = known_.find(name);
    if (oldest == known_.end()) continue;
    if (oldest->second.denial.ends() <= now || known_.size() > most_) {
      known_.erase(oldest);
    } else {
      order_.push_back(name);  // it was noted again
    }
  }
}

std::optional<Decision> DenyCache::refuses(const store::Hash128& name, const Quota& quota,
                                           Cost cost, base::Deadline now) const {
  const auto found = known_.find(name);
  if (found == known_.end() || found->second.is_forgotten) return std::nullopt;
  if (found->second.said.allowed()) return std::nullopt;
  return found->second.denial.repeat(quota, cost, now);
}

std::optional<Decision> DenyCache::shows(const store::Hash128& name, const Quota& quota,
                                         base::Deadline now) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return std::nullopt;
  const Known& known = found->second;
  if (known.is_forgotten || !(known.quota == quota.identity())) return std::nullopt;
  if (known.denial.ends() <= now) return std::nullopt;
  const Duration passed = std::chrono::floor<Duration>(now - known.heard);
  return Decision::allow(known.said.limit(), known.said.remaining(),
                         std::max(known.said.reset_after() - passed, Duration{0}));
}

// Keeps its place, or it would have two of them when it is noted again.
void DenyCache::forget(const store::Hash128& name) {
  const auto found = known_.find(name);
  if (found != known_.end()) found->second.is_forgotten = true;
}

void DenyCache::forget_all() {
  known_.clear();
  order_.clear();
}

}  // namespace penstock::lease
