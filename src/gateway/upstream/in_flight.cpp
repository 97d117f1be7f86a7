#include "gateway/upstream/in_flight.hpp"

#include "service/random_id.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {
namespace {

// Timeout of background calls.
constexpr Duration kStoreTimeout = std::chrono::seconds{1};

bool may_have_executed(const Error& error) {
  return error.code != ErrorCode::Unavailable && error.code != ErrorCode::Overloaded;
}

}  // namespace

void InFlight::Permit::release() noexcept {
  if (Counter* const upstream = std::exchange(upstream_, nullptr)) {
    upstream->fetch_sub(1, std::memory_order_relaxed);
  }
  if (InFlight* const owner = std::exchange(owner_, nullptr)) owner->release(client_);
}

InFlight::Counter& InFlight::to_upstream(const std::string& name) {
  const std::lock_guard lock(upstreams_mutex_);
  return upstreams_[name];
}

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

std::optional<InFlight::Permit> InFlight::acquire(Counter& upstream, std::size_t limit) {
  if (upstream.fetch_add(1, std::memory_order_relaxed) >= limit) {
    upstream.fetch_sub(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  Permit place;
  place.upstream_ = &upstream;
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

std::size_t InFlight::clients() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    all += shard.clients.size();
  }
  return all;
}

SharedPermits::SharedPermits(store::PermitStore& book, Options options)
    : store_(&book), options_(std::move(options)), node_(service::random_id()) {}

void SharedPermits::Permit::release() noexcept {
  const std::shared_ptr<SharedPermits> owner = std::move(owner_);
  owner_.reset();
  if (owner != nullptr) owner->release(std::exchange(number_, 0));
}

void SharedPermits::acquire(std::string_view client, base::Deadline deadline, Answered answered) {
  if (store_ == nullptr) return answered(Outcome::StoreUnavailable, {});
  const std::uint64_t number = ++last_;
  store::PermitName name{.key = options_.prefix + std::string(client),
                         .id = node_ + "-" + std::to_string(number)};
  store_->acquire(name, options_.limit, options_.lease, deadline,
                  [self = shared_from_this(), name, number, asked_at = base::monotonic_now(),
                   answered = std::move(answered)](const Result<core::PermitResult>& answer) {
                    if (!answer) {
                      // A lost call may have acquired the permit.
                      if (may_have_executed(answer.error())) {
                        self->release({name, asked_at + self->options_.lease});
                      }
                      return answered(Outcome::StoreUnavailable, {});
                    }
                    if (!answer->held) return answered(Outcome::LimitReached, {});
                    self->held_.emplace(
                        number, Held{.name = name, .renew_at = self->next_renewal(asked_at)});
                    Permit permit;
                    permit.owner_ = self;
                    permit.number_ = number;
                    answered(Outcome::Acquired, std::move(permit));
                  });
}

base::Deadline SharedPermits::next_renewal(base::Deadline now) const {
  return now + options_.lease / 3;
}

// Renews by acquiring again, which also restores permits lost during a store outage.
void SharedPermits::tick(base::Deadline now) {
  if (store_ == nullptr) return;
  for (auto& [number, held] : held_) {
    if (held.renew_at > now) continue;
    held.renew_at = next_renewal(now);
    store_->acquire(held.name, options_.limit, options_.lease, now + kStoreTimeout,
                    [](const Result<core::PermitResult>& /*answer*/) {});
  }
  for (std::size_t tries = std::min(unreleased_.size(), kReleasesPerTick); tries > 0; --tries) {
    Unreleased next = std::move(unreleased_.front());
    unreleased_.pop_front();
    if (next.expires > now) release(std::move(next));
  }
}

void SharedPermits::release(std::uint64_t number) {
  const auto held = held_.find(number);
  if (held == held_.end()) return;
  const store::PermitName name = std::move(held->second.name);
  held_.erase(held);
  release({name, base::monotonic_now() + options_.lease});
}

void SharedPermits::release(Unreleased permit) {
  if (store_ == nullptr) return;
  const store::PermitName name = permit.name;
  store_->release(
      name, base::deadline_after(kStoreTimeout),
      [self = shared_from_this(), permit = std::move(permit)](const Result<bool>& released) {
        if (released || self->unreleased_.size() >= kMaxUnreleased) return;
        self->unreleased_.push_back(permit);
      });
}

}  // namespace penstock::gateway
