#include "penstock/shared_limiter.hpp"

#include "redis_store/blocking_store.hpp"
#include "redis_store/requests.hpp"

#include <string>

namespace penstock {
namespace {

Result<std::int64_t> add_to(redis_store::BlockingStore& store, const std::string& key,
                            std::string_view name, std::int64_t delta,
                            std::optional<Duration> lifetime) {
  if (lifetime && *lifetime <= Duration{0}) {
    return Error{ErrorCode::InvalidInput, "lifetime " + std::to_string(lifetime->count()) +
                                              " us of counter \"" + std::string(name) +
                                              "\" must be above zero"};
  }
  return store.add(key, delta, lifetime);
}

}  // namespace

Result<SharedLimiter> SharedLimiter::open(const RedisOptions& options) {
  Result<redis::Options> client = redis_store::client_options(options);
  if (!client) return client.error();
  return SharedLimiter(std::make_unique<redis_store::BlockingStore>(options, *std::move(client)));
}

SharedLimiter::SharedLimiter(std::unique_ptr<redis_store::BlockingStore> store) noexcept
    : store_(std::move(store)) {}
SharedLimiter::~SharedLimiter() = default;
SharedLimiter::SharedLimiter(SharedLimiter&&) noexcept = default;
SharedLimiter& SharedLimiter::operator=(SharedLimiter&&) noexcept = default;

Result<Decision> SharedLimiter::check(std::string_view key, const Quota& quota, Cost cost) {
  return store_->check(key, quota, cost);
}

Result<Decision> SharedLimiter::check(std::string_view key, const Limits& limits, Cost cost) {
  return store_->check(key, limits, cost);
}

Result<Decision> SharedLimiter::check_all(std::span<const Check> checks, std::span<Decision> each) {
  return store_->check_all(checks, each);
}

void SharedLimiter::check_each(std::span<const Check> checks, std::span<Result<Decision>> results) {
  store_->check_each(checks, results);
}

Result<Decision> SharedLimiter::refund(std::string_view key, const Quota& quota, Cost cost) {
  return store_->refund(key, quota, cost);
}

Result<Decision> SharedLimiter::refund(std::string_view key, const Limits& limits, Cost cost) {
  return store_->refund(key, limits, cost);
}

Result<bool> SharedLimiter::reset(std::string_view key) { return store_->reset(key); }

Result<bool> SharedLimiter::reset(std::string_view key, const Limits& limits) {
  return store_->reset(key, limits);
}

Result<void> SharedLimiter::block(std::string_view key, Duration duration) {
  const Result<bool> blocked = store_->block(key, duration);
  if (!blocked) return blocked.error();
  return {};
}

Result<bool> SharedLimiter::unblock(std::string_view key) { return store_->unblock(key); }

SharedCounters SharedLimiter::counters() noexcept { return SharedCounters(*store_); }

RedisStats SharedLimiter::stats() const { return redis_store::public_stats(store_->stats()); }

Result<std::int64_t> SharedCounters::add(std::string_view name, std::int64_t delta,
                                         std::optional<Duration> lifetime) {
  return add_to(*store_, store_->layout().counter(name), name, delta, lifetime);
}

Result<Decimal> SharedCounters::add(std::string_view name, Decimal delta,
                                    std::optional<Duration> lifetime) {
  const Result<std::int64_t> nanos =
      add_to(*store_, store_->layout().decimal_counter(name), name, delta.nanos(), lifetime);
  if (!nanos) return nanos.error();
  return Decimal::from_nanos(*nanos);
}

Result<std::int64_t> SharedCounters::get(std::string_view name) const {
  return store_->get(store_->layout().counter(name));
}

Result<Decimal> SharedCounters::get_decimal(std::string_view name) const {
  const Result<std::int64_t> nanos = store_->get(store_->layout().decimal_counter(name));
  if (!nanos) return nanos.error();
  return Decimal::from_nanos(*nanos);
}

Result<bool> SharedCounters::reset(std::string_view name) {
  return store_->remove({store_->layout().counter(name), store_->layout().decimal_counter(name)});
}

}  // namespace penstock
