#include "core/permit_set.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::core {

PermitResult PermitSet::acquire(std::string_view id, std::uint32_t limit, Duration lasts,
                                Instant now) {
  const std::size_t taken = expire(now);
  auto permit = by_name_.find(id);
  if (permit == by_name_.end()) {
    if (taken >= limit) {
      const auto leaves = std::next(by_end_.begin(), static_cast<std::ptrdiff_t>(taken - limit));
      return {
          .held = false, .taken = static_cast<std::uint32_t>(taken), .lasts = leaves->first - now};
    }
    permit = by_name_.emplace(id, now).first;
    by_end_.emplace(now, permit->first);
    name_bytes_ += id.size();
  }
  return hold(permit, lasts, now);
}

PermitResult PermitSet::renew(std::string_view id, Duration lasts, Instant now) {
  const std::size_t taken = expire(now);
  const auto permit = by_name_.find(id);
  if (permit == by_name_.end()) return {.held = false, .taken = static_cast<std::uint32_t>(taken)};
  return hold(permit, lasts, now);
}

PermitResult PermitSet::hold(ByName::iterator permit, Duration lasts, Instant now) {
  by_end_.erase({permit->second, permit->first});
  permit->second = std::max(permit->second, now + lasts);
  by_end_.emplace(permit->second, permit->first);
  return {.held = true,
          .taken = static_cast<std::uint32_t>(by_end_.size()),
          .lasts = permit->second - now};
}

bool PermitSet::release(std::string_view id, Instant now) {
  expire(now);
  const auto permit = by_name_.find(id);
  if (permit == by_name_.end()) return false;
  by_end_.erase({permit->second, permit->first});
  name_bytes_ -= permit->first.size();
  by_name_.erase(permit);
  return true;
}

std::size_t PermitSet::expire(Instant now) {
  while (!by_end_.empty() && by_end_.begin()->first <= now) {
    const auto permit = by_name_.find(by_end_.begin()->second);
    by_end_.erase(by_end_.begin());
    name_bytes_ -= permit->first.size();
    by_name_.erase(permit);
  }
  return by_end_.size();
}

}  // namespace penstock::core
