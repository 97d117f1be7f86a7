#include "store/operator_table.hpp"

#include <algorithm>

namespace penstock::store {

// An expired override has no effect, so that its removal is no new version.
void OperatorTable::purge(Instant now) {
  std::erase_if(overrides_, [&](const auto& each) { return each.second.expires_at <= now; });
}

void OperatorTable::log(OperatorAction action, Instant now, Duration lasts) {
  action.at = now;
  if (lasts > Duration{0}) action.expires_at = now + lasts;
  actions_.push_front(std::move(action));
  if (actions_.size() > OperatorStore::kMaxActions) actions_.pop_back();
}

Result<Override> OperatorTable::set(Override set, Duration lasts) {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  purge(now);
  const auto place = overrides_.find({set.rule, set.subject});
  if (place == overrides_.end() && overrides_.size() >= OperatorStore::kMaxOverrides) {
    return too_many_overrides();
  }
  set.set_at = now;
  set.expires_at = now + lasts;
  log(action_of(set, OperatorAction::Kind::OverrideSet), now, lasts);
  ++version_;
  return overrides_.insert_or_assign({set.rule, set.subject}, set).first->second;
}

std::optional<Override> OperatorTable::remove(const Override& removed) {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  purge(now);
  const auto place = overrides_.find({removed.rule, removed.subject});
  if (place == overrides_.end()) return std::nullopt;
  Override before = std::move(place->second);
  overrides_.erase(place);
  ++version_;
  OperatorAction action = action_of(before, OperatorAction::Kind::OverrideRemove);
  action.by = removed.by;
  action.reason = removed.reason;
  log(std::move(action), now, Duration{0});
  return before;
}

OverrideList OperatorTable::list(std::uint64_t known_version) {
  const std::lock_guard lock(mutex_);
  OverrideList list{.version = version_};
  if (known_version == version_) return list;
  purge(clock_.now());
  list.overrides.emplace();
  for (const auto& [name, each] : overrides_) list.overrides->push_back(each);
  return list;
}

void OperatorTable::append(OperatorAction action, Duration lasts) {
  const std::lock_guard lock(mutex_);
  log(std::move(action), clock_.now(), lasts);
}

std::vector<OperatorAction> OperatorTable::actions(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, actions_.size()));
  return {actions_.begin(), actions_.begin() + count};
}

}  // namespace penstock::store
