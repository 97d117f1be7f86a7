#include "gateway/upstream/in_flight.hpp"

namespace penstock::gateway {

void InFlight::Permit::release() noexcept {
  InFlight* const owner = std::exchange(owner_, nullptr);
  if (owner == nullptr) return;
  if (client_.empty()) {
    owner->upstreams_[upstream_].fetch_sub(1, std::memory_order_relaxed);
  } else {
    owner->release(client_);
  }
}

InFlight::InFlight(std::size_t upstreams) : upstreams_(upstreams) {}

std::optional<InFlight::Permit> InFlight::acquire(std::string_view client, std::size_t limit) {
  Shard& shard = shard_of(client);
  const std::lock_guard lock(shard.mutex);
  auto known = shard.clients.find(client);
  if (known == shard.clients.end()) known = shard.clients.emplace(client, 0).first;
  if (known->second >= limit) {
    if (known->second == 0) shard.clients.erase(known);
    return std::nullopt;
  }
  ++known->second;
  Permit place;
  place.owner_ = this;
  place.client_ = client;
  return place;
}

std::optional<InFlight::Permit> InFlight::acquire(std::size_t upstream, std::size_t limit) {
  std::atomic<std::size_t>& count = upstreams_[upstream];
  if (count.fetch_add(1, std::memory_order_relaxed) >= limit) {
    count.fetch_sub(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  Permit place;
  place.owner_ = this;
  place.upstream_ = upstream;
  return place;
}

void InFlight::release(std::string_view client) {
  Shard& shard = shard_of(client);
  const std::lock_guard lock(shard.mutex);
  const auto known = shard.clients.find(client);
  if (known != shard.clients.end() && --known->second == 0) shard.clients.erase(known);
}

InFlight::Shard& InFlight::shard_of(std::string_view client) {
  return shards_[TextHash{}(client) % shards_.size()];
}

std::size_t InFlight::to_upstream(std::size_t upstream) const noexcept {
  return upstreams_[upstream].load(std::memory_order_relaxed);
}

std::size_t InFlight::clients() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    all += shard.clients.size();
  }
  return all;
}

}  // namespace penstock::gateway
