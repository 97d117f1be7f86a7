#include "lease/denial_cache.hpp"

namespace penstock::lease {

void DenialCache::note(const store::Hash128& name, const Quota& quota, Cost cost,
                       const Decision& said, base::Deadline asked, base::Deadline heard,
                       std::uint32_t version) {
  const Known known{.denial = CachedDecision(quota, cost, said, asked, heard), .version = version};
  const auto [entry, is_new] = known_.try_emplace(name, known);
  if (!is_new) {
    entry->second = known;
    return;
  }
  order_.push_back(name);
  make_room(heard);
}

void DenialCache::update(const store::Hash128& name, const CachedDecision& said,
                         std::uint32_t version) {
  const auto found = known_.find(name);
  if (found != known_.end()) found->second = {.denial = said, .version = version};
}

// Checks two entries per new one, so that it shrinks without a timer.
void DenialCache::make_room(base::Deadline now) {
  for (int looked = 0; looked < 2 && order_.size() > 1; ++looked) {
    const store::Hash128 name = order_.front();
    order_.pop_front();
    const auto oldest = known_.find(name);
    if (oldest == known_.end()) continue;
    if (oldest->second.denial.ends() <= now || known_.size() > max_size_) {
      known_.erase(oldest);
    } else {
      order_.push_back(name);  // noted again since
    }
  }
}

const CachedDecision* DenialCache::find(const store::Hash128& name, std::uint32_t version) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return nullptr;
  const Known& known = found->second;
  return known.is_forgotten || known.version != version ? nullptr : &known.denial;
}

std::optional<Decision> DenialCache::certain_denial(const store::Hash128& name, const Quota& quota,
                                                    Cost cost, base::Deadline now,
                                                    std::uint32_t version) const {
  const CachedDecision* const known = find(name, version);
  return known == nullptr ? std::nullopt : known->repeat(quota, cost, now);
}

std::optional<Decision> DenialCache::snapshot(const store::Hash128& name, const Quota& quota,
                                              Cost cost, base::Deadline now,
                                              std::uint32_t version) const {
  const CachedDecision* const known = find(name, version);
  return known == nullptr ? std::nullopt : known->snapshot(quota, cost, now);
}

// Keeps its position; otherwise it would have two when it is noted again.
void DenialCache::forget(const store::Hash128& name) {
  const auto found = known_.find(name);
  if (found != known_.end()) found->second.is_forgotten = true;
}

void DenialCache::forget_all() {
  known_.clear();
  order_.clear();
}

}  // namespace penstock::lease
