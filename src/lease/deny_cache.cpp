#include "lease/deny_cache.hpp"

namespace penstock::lease {

void DenyCache::note(const store::Hash128& name, const Quota& quota, Cost cost,
                     const Decision& said, base::Deadline asked, base::Deadline heard,
                     std::uint32_t version) {
  const Known known{.denial = Denial(quota, cost, said, asked, heard), .version = version};
  const auto [place, is_new] = known_.try_emplace(name, known);
  if (!is_new) {
    place->second = known;
    return;
  }
  order_.push_back(name);
  make_room(heard);
}

void DenyCache::update(const store::Hash128& name, const Denial& said, std::uint32_t version) {
  const auto found = known_.find(name);
  if (found != known_.end()) found->second = {.denial = said, .version = version};
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

const Denial* DenyCache::find(const store::Hash128& name, std::uint32_t version) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return nullptr;
  const Known& known = found->second;
  return known.is_forgotten || known.version != version ? nullptr : &known.denial;
}

std::optional<Decision> DenyCache::refuses(const store::Hash128& name, const Quota& quota,
                                           Cost cost, base::Deadline now,
                                           std::uint32_t version) const {
  const Denial* const known = find(name, version);
  return known == nullptr ? std::nullopt : known->repeat(quota, cost, now);
}

std::optional<Decision> DenyCache::shows(const store::Hash128& name, const Quota& quota, Cost cost,
                                         base::Deadline now, std::uint32_t version) const {
  const Denial* const known = find(name, version);
  return known == nullptr ? std::nullopt : known->shows(quota, cost, now);
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
