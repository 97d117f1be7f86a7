#include "service/live_overrides.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {

std::shared_ptr<const LiveOverrides::List> LiveOverrides::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

std::uint64_t LiveOverrides::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::size_t LiveOverrides::count(Instant now) const {
  const std::shared_ptr<const List> all = list();
  return static_cast<std::size_t>(std::count_if(
      all->begin(), all->end(), [&](const auto& each) { return each->expires_at > now; }));
}

void LiveOverrides::publish(std::uint64_t ticket, store::OverrideList read) {
  const std::lock_guard lock(mutex_);
  if (ticket < ticket_) return;
  ticket_ = ticket;
  if (!read.overrides || read.version == version_) return;
  auto list = std::make_shared<List>();
  for (store::Override& each : *read.overrides) {
    list->push_back(std::make_shared<const store::Override>(std::move(each)));
  }
  list_ = std::move(list);
  version_ = read.version;
  generation_.fetch_add(1, std::memory_order_release);
}

}  // namespace penstock::service
