#include "penstock/shared_counters.hpp"

#include "redis_store/blocking_store.hpp"

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
